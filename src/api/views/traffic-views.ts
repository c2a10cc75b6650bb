import * as v from 'valibot';
import { section } from '../../schema/fields.js';
import { described, naturalNumber, nullable, numeric, string } from './parts.js';

/** What endpoints served lately, and the requests themselves. */

const ms = nullable(numeric);

const rates = {
  requests_per_s: described(numeric, 'requests that ended'),
  errors_per_s: described(numeric, 'requests that failed at a replica, timed out or found none'),
  refused_per_s: described(numeric, 'requests that a limit, the admission policy or the queue refused'),
  input_tokens_per_s: described(numeric, 'prompt tokens'),
  cached_tokens_per_s: described(numeric, 'prompt tokens that were cached'),
  output_tokens_per_s: described(numeric, 'response tokens'),
  ttft_p50_ms: described(ms, 'time to first token, median; null where no stream began'),
  ttft_p95_ms: described(ms, 'time to first token, 95th percentile'),
};
const present = {
  in_flight: described(naturalNumber, 'requests in flight now'),
  queued: described(naturalNumber, 'requests in queues of the gateway now'),
  replicas: described(naturalNumber, 'replicas'),
  ready: described(naturalNumber, 'replicas that are ready'),
  kv_used: described(nullable(numeric), 'mean share of the KV caches in use, 0 to 1; null where none is reported'),
};

/** An endpoint over the last minute. */
export const TRAFFIC = section('Traffic', {
  workspace: described(string, 'workspace of the endpoint'),
  name: described(string, 'name of the endpoint'),
  ...rates,
  ...present,
});

export const TRAFFIC_TOTAL = section('TrafficTotal', { ...rates, ...present });

const steps = v.array(numeric);

export const TRAFFIC_SERIES = section('TrafficSeries', {
  at: described(string, 'end of the last step'),
  step_s: described(numeric, 'seconds of a step'),
  requests_per_s: described(steps, 'requests that ended, the oldest step first'),
  errors_per_s: described(steps, 'requests that failed'),
  output_tokens_per_s: described(steps, 'response tokens'),
  ttft_p50_ms: described(v.array(ms), 'time to first token, median'),
  ttft_p95_ms: described(v.array(ms), 'time to first token, 95th percentile'),
});

const attempt = section('FailedAttempt', {
  replica: described(string, 'replica that was tried'),
  start_ms: described(numeric, 'milliseconds from arrival until it was sent there'),
  end_ms: described(numeric, 'milliseconds from arrival until the attempt failed'),
  cause: described(string, 'why it failed'),
});

export const PAST_REQUEST = section('PastRequest', {
  id: described(string, 'request id'),
  workspace: described(string, 'workspace of its endpoint'),
  endpoint: described(string, 'name of its endpoint'),
  model: described(string, 'model that it named'),
  key: described(nullable(string), 'id of its API key; null without one'),
  class: described(string, 'SLO class'),
  replica: described(nullable(string), 'replica that responded last; null when none was tried'),
  policy: described(nullable(string), 'routing policy; null when no replica was chosen'),
  status: described(naturalNumber, 'HTTP status of the response'),
  outcome: described(string, 'how it ended: ok, or what went wrong'),
  cause: described(nullable(string), 'why it failed; null when it did not'),
  attempts: described(naturalNumber, 'replicas that were tried'),
  failed_attempts: described(v.array(attempt), 'attempts that another one followed'),
  streamed: described(v.boolean(), 'whether the response was a stream'),
  at: described(string, 'time of arrival'),
  queue_ms: described(ms, 'milliseconds in the queue of the gateway; null when it was in none'),
  dispatch_ms: described(ms, 'milliseconds from arrival until it was sent to the last replica'),
  ttft_ms: described(ms, 'milliseconds from arrival to the first token'),
  duration_ms: described(numeric, 'milliseconds from arrival to the end'),
  input_tokens: described(naturalNumber, 'prompt tokens'),
  cached_tokens: described(naturalNumber, 'prompt tokens that were cached'),
  output_tokens: described(naturalNumber, 'response tokens'),
});

/** Of the list of requests. */
export const PAST_REQUEST_MORE = {
  total: described(naturalNumber, 'requests that fit the filter, on all pages'),
  is_more: described(v.boolean(), 'whether there are more than that: counting ends at some number'),
  store_problem: described(nullable(string), 'why requests of the store are missing; null when they are not'),
};
