import * as v from 'valibot';
import { ENDPOINT_ADVICE, ENDPOINT_SWITCH } from '../../control/resources/kinds/endpoint.js';
import type { LimitsView } from '../../gateway/access/limits/limits-view.js';
import type { ReplicaSignals } from '../../gateway/signals/replica-signals.js';
import { POLICY_SCHEMA } from '../../policy/bundle/policy-schema.js';
import { section } from '../../schema/fields.js';
import { USAGE_DIMENSIONS } from '../../store/usage/usage-record.js';
import { described, maybe, naturalNumber, nullable, numeric, openMap, string } from './parts.js';
import { PROFILE_SUMMARY } from './profile-views.js';
import { SHADOW_REPORT } from './shadow-views.js';

/** What the gateway returns of itself: replicas, endpoints, policies, limits and usage. */

const reported = nullable(numeric);

/** A signal that the engine does not report is NaN in memory and null in JSON. */
const SIGNALS: v.GenericSchema<unknown, Record<keyof ReplicaSignals, unknown>> = section('ReplicaSignals', {
  running: described(reported, 'requests in its batch'),
  waiting: described(reported, 'requests in its queue'),
  kvUsed: described(reported, 'share of its KV cache in use, 0 to 1'),
  freeBlocks: described(reported, 'free blocks of its KV cache'),
  cacheHitRate: described(reported, 'prefix cache hits per prompt token'),
  atUs: described(numeric, 'time of the report in microseconds since the gateway started'),
  missing: described(v.array(string), 'signals that the engine should report and does not'),
});

export const REPLICA = section('Replica', {
  workspace: described(string, 'workspace of its endpoint'),
  endpoint: described(string, 'name of its endpoint'),
  id: described(string, 'id of the replica'),
  url: described(string, 'scheme, host and port, without password'),
  engine: described(string, 'engine it runs'),
  hardware: described(string, 'GPU that it runs on, where that is known; else empty'),
  tp: described(naturalNumber, 'its tensor parallelism; 0 where it is not known'),
  state: described(v.picklist(['starting', 'ready', 'unhealthy', 'draining']), 'observed state'),
  problem: described(string, 'why it is not ready; empty when it is'),
  leaving: described(v.boolean(), 'it gets no new requests and is removed when its last one has ended'),
  breaker: described(v.picklist(['open', 'closed']), 'its circuit breaker'),
  suspect: described(
    string,
    'why requests avoid it although it is healthy: it takes them and gives nothing back; empty when it is trusted',
  ),
  models: described(v.array(string), 'models it serves'),
  in_flight: described(naturalNumber, 'requests in flight by the books of its endpoint'),
  active: described(naturalNumber, 'requests that use a connection to it'),
  signals: described(nullable(SIGNALS), 'load that it reported; null before the first report'),
});

export const LIVE_ENDPOINT = section('LiveEndpoint', {
  workspace: described(string, 'workspace; default for endpoints of the configuration file'),
  name: described(string, 'name of the endpoint'),
  source: described(v.picklist(['file', 'control-plane']), 'what defines it'),
  models: described(v.array(string), 'models it serves'),
  policy: described(POLICY_SCHEMA, 'its policy, as in a policy file'),
  policy_hash: described(string, 'hash of the policy with its options'),
  in_flight: described(naturalNumber, 'requests in flight'),
  queued: described(v.record(v.string(), naturalNumber), 'requests waiting in its queue, by SLO class'),
  replicas: described(v.array(string), 'ids of its replicas'),
  shadows: described(v.array(SHADOW_REPORT), 'its shadow policies and how often they agree'),
  profiles: described(v.array(PROFILE_SUMMARY), 'latency profiles of its engines'),
  warnings: maybe(v.array(string), 'after a change of the policy: keys that have no effect'),
  advice: maybe(ENDPOINT_ADVICE, 'the latest advice about its policy, if there is any'),
  switch: maybe(ENDPOINT_SWITCH, 'the latest guarded switch of its policy, if there was any'),
});

export const POLICY_VERSION = section('PolicyVersion', {
  policy: described(POLICY_SCHEMA, 'the policy, as in a policy file'),
  policy_hash: described(string, 'hash of the policy with its options'),
  age_s: described(numeric, 'seconds since it took effect'),
});

export const POLICY_CHOICE = section('PolicyChoice', {
  name: described(string, 'name of the policy'),
  summary: described(string, 'what it does'),
  good_for: described(string, 'when it is the right choice'),
  not_for: described(string, 'when it is not'),
  formula: described(string, 'the rule in one line'),
  options: described(openMap, 'its options, as a JSON Schema'),
});

export const REMOVED_REPLICA = section('RemovedReplica', {
  status: described(v.literal('leaving'), 'always leaving'),
  active: described(naturalNumber, 'requests that it still has'),
});

export const RELOADED = section('Reloaded', {
  status: described(v.literal('reloaded'), 'always reloaded'),
  needs_restart: described(v.array(string), 'changed keys that take effect when the gateway starts again'),
});

const limit = section('LimitLeft', {
  limit: described(numeric, 'the limit; money in dollars'),
  used: described(numeric, 'what is used of it'),
  left: described(numeric, 'what is left of it'),
  reset_s: described(nullable(numeric), 'seconds until nothing is counted any more; null when unknown'),
});

export const KEY_LIMITS: v.GenericSchema<unknown, LimitsView> = section('KeyLimits', {
  id: described(string, 'id of the ApiKey'),
  at: described(string, "time by the store's clock"),
  limits: described(
    v.record(v.string(), v.record(v.string(), limit)),
    'by model and name of the limit; * for all models together',
  ),
});

const counts = {
  requests: described(naturalNumber, 'requests'),
  input_tokens: described(naturalNumber, 'prompt tokens'),
  cached_tokens: described(naturalNumber, 'prompt tokens that were cached'),
  output_tokens: described(naturalNumber, 'response tokens'),
  reasoning_tokens: described(naturalNumber, 'response tokens spent on reasoning'),
  characters: described(naturalNumber, 'characters that were spoken'),
  audio_seconds: described(naturalNumber, 'seconds of audio that were transcribed or translated'),
  estimated_requests: described(
    naturalNumber,
    'requests whose tokens were estimated, because the engine did not report them',
  ),
  dollars: described(numeric, 'cost in dollars'),
};

/** A row has the dimensions that the query groups by. */
export const USAGE = section('Usage', {
  ...Object.fromEntries(USAGE_DIMENSIONS.map((name) => [name, maybe(string, `${name}, where the rows are by it`)])),
  key_name: maybe(string, 'the key as workspace/name, where the rows are by key and it exists'),
  ...counts,
});

export const USAGE_TOTAL = section('UsageTotal', counts);
