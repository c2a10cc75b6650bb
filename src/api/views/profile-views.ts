import * as v from 'valibot';
import { PREDICTION_METRICS } from '../../gateway/prediction/error-window.js';
import { DRIFT_REASONS } from '../../gateway/prediction/profile-book.js';
import { section } from '../../schema/fields.js';
import { described, naturalNumber, nullable, numeric, openMap, string } from './parts.js';

/** What the API returns of latency profiles. */

const SCORE = section('ProfileScore', {
  ttft: described(numeric, 'error of the time to first token, as a share'),
  itl: described(numeric, 'error of the time between tokens'),
  e2e: described(numeric, 'error of the whole duration'),
  requests: described(naturalNumber, 'requests that it was scored on: newer than those it was fitted to'),
});

/** Of the profiles of an endpoint, in its own view. */
export const PROFILE_SUMMARY = section('ProfileSummary', {
  engine: described(string, "engine of its replicas, with their GPU where it is configured: 'vllm@H100'"),
  source: described(
    nullable(v.picklist(['fitted', 'given'])),
    'fitted to requests, or given by an operator; null: none',
  ),
  used: described(v.boolean(), 'latencies are predicted with it'),
  pinned: described(v.boolean(), 'it is not fitted again'),
  age_s: described(nullable(numeric), 'seconds since it was fitted or given'),
  score: described(nullable(SCORE), 'how far it was off on newer requests when it was last compared'),
  drift: described(string, 'why predictions have become worse; empty unless they have'),
  problem: described(string, 'why nothing is predicted; empty when something is'),
});

const ERRORS = section('PredictionErrors', {
  count: described(naturalNumber, 'latest requests that were compared'),
  bias: described(numeric, 'predicted / measured - 1 on average'),
  mean: described(numeric, 'mean of |predicted / measured - 1|'),
  p50: described(numeric, 'its median'),
  p90: described(numeric, 'its 90th percentile'),
});

const DRIFT = section('ProfileDrift', {
  reason: described(v.picklist(DRIFT_REASONS), 'likely reason'),
  message: described(string, 'the same in words'),
  since_s: described(numeric, 'seconds since predictions became worse'),
});

export const ENGINE_PROFILE = section('EngineProfile', {
  workspace: described(string, 'workspace of the endpoint'),
  endpoint: described(string, 'name of the endpoint'),
  engine: PROFILE_SUMMARY.entries.engine,
  source: PROFILE_SUMMARY.entries.source,
  used: PROFILE_SUMMARY.entries.used,
  pinned: PROFILE_SUMMARY.entries.pinned,
  age_s: PROFILE_SUMMARY.entries.age_s,
  score: PROFILE_SUMMARY.entries.score,
  errors: described(
    v.object(Object.fromEntries(PREDICTION_METRICS.map((metric) => [metric, nullable(ERRORS)]))),
    'how far predictions were off for the latest requests; null before the first',
  ),
  samples: described(naturalNumber, 'requests collected for the next fit'),
  drift: described(nullable(DRIFT), 'null unless predictions have become worse'),
  assumes: described(v.array(string), 'what the fit assumes'),
  problem: PROFILE_SUMMARY.entries.problem,
});

export const ENGINE_PROFILE_WITH_FILE = section('EngineProfileFile', {
  ...ENGINE_PROFILE.entries,
  profile: described(nullable(openMap), 'the profile as a file of --latency-profile holds it; null: none'),
});
