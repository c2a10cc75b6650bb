import { MEASURED_ENGINES } from '../../engines/registry.js';
import { POLICY_SCHEMA } from '../../policy/bundle/policy-schema.js';
import { choice, field, list, number, required, section, text, whole } from '../../schema/fields.js';
import { DEFAULT_LINES, GATEWAY_DEFAULTS } from './gateway-config.js';

const MOST_MS = 86_400_000;
const MOST = 2 ** 31 - 1;
const ms = (least = 0) => whole(least, MOST_MS);

const listen = section('A port', {
  host: field(text(), { default: '127.0.0.1', help: 'address; 0.0.0.0 for all' }),
  port: field(whole(0, 65_535), { defaultText: '8080, admin 8081', help: 'port; 0 for a free one' }),
  cert: field(text(), { help: 'certificate file for TLS' }),
  key: field(text(), { help: 'its key' }),
});

/** A replica, as files and the admin API describe it. */
export const REPLICA_SCHEMA = section('A replica', {
  url: required(text(), { help: 'scheme, host and port' }),
  id: field(text(), { defaultText: 'host and port', help: 'its name in headers, metrics and explanations' }),
  engine: field(choice(MEASURED_ENGINES.map(({ name }) => name)), { default: 'vllm', help: 'what it runs' }),
  model: field(text(), { defaultText: 'it is asked', help: 'what it serves' }),
});

const { access, breaker, health, limits, retries, signals, timeouts } = GATEWAY_DEFAULTS;
const dollars = number(0, 1_000_000);

/** Every key of twinyard.yaml. */
export const GATEWAY_SCHEMA = section('twinyard.yaml', {
  listen: field(listen, { help: 'where clients connect' }),
  admin: field(listen, { help: 'where metrics and the admin API are' }),
  replicas: field(list(REPLICA_SCHEMA), { help: 'replicas of the endpoint "default"' }),
  policy: field(POLICY_SCHEMA, { help: 'of endpoints that name none' }),
  endpoints: field(
    list(
      section('An endpoint', {
        name: required(text(), { help: 'its name in paths and explanations' }),
        replicas: required(list(REPLICA_SCHEMA), { help: 'who serves it' }),
        policy: field(POLICY_SCHEMA, { help: 'instead of the one for all' }),
      }),
    ),
    { help: 'sets of replicas, each with a policy of its own' },
  ),
  limits: field(
    section('Limits', {
      body_bytes: field(whole(1024, MOST), { default: limits.bodyBytes, help: "a request's body" }),
      header_bytes: field(whole(1024, 1_048_576), { default: limits.headerBytes, help: 'all its headers' }),
      decisions: field(whole(1, 1_000_000), { default: limits.decisions, help: 'decisions remembered' }),
      connections: field(whole(1, 1_000_000), {
        default: limits.connections,
        help: 'of clients, at once; more are turned away',
      }),
      log_bytes: field(whole(1024, Number.MAX_SAFE_INTEGER), {
        default: DEFAULT_LINES.maxBytes,
        help: 'a file of `record` or `access_log`, before the next is begun',
      }),
      log_files: field(whole(1, 1000), { default: DEFAULT_LINES.files, help: 'such files kept' }),
    }),
    { help: 'the most of everything' },
  ),
  timeouts: field(
    section('Time-outs', {
      connect_ms: field(ms(1), { default: timeouts.connectMs, help: 'to reach a replica' }),
      first_byte_ms: field(ms(1), { default: timeouts.firstByteMs, help: 'until its answer begins' }),
      idle_ms: field(ms(1), { default: timeouts.idleMs, help: 'between two pieces of it' }),
      total_ms: field(ms(1), { default: timeouts.totalMs, help: 'for all of it' }),
      headers_ms: field(ms(1), { default: timeouts.headersMs, help: 'for a client to send its headers' }),
      body_ms: field(ms(1), { default: timeouts.bodyMs, help: 'for it to send the whole request' }),
    }),
    { help: 'in milliseconds' },
  ),
  health: field(
    section('Health', {
      interval_ms: field(ms(10), { default: health.intervalMs, help: 'between two checks' }),
      timeout_ms: field(ms(10), { default: health.timeoutMs, help: 'for one' }),
      failures: field(whole(1, 1000), { default: health.failures, help: 'in a row that make it unhealthy' }),
      breaker_failures: field(whole(1, 1000), {
        default: breaker.failures,
        help: 'requests in a row that open its breaker',
      }),
      breaker_ms: field(ms(), { default: breaker.openMs, help: 'until one may try again' }),
      slow_start_ms: field(ms(), {
        default: GATEWAY_DEFAULTS.slowStartMs,
        help: 'a newcomer gets less than its share',
      }),
      wait_ms: field(ms(), {
        default: GATEWAY_DEFAULTS.waitMs,
        help: 'a request waits when no declared replica is ready yet',
      }),
      signals_ms: field(ms(10), { default: signals.intervalMs, help: 'between two looks at its metrics' }),
      stale_ms: field(ms(10), { default: signals.staleMs, help: 'after which they count no more' }),
    }),
    { help: 'how replicas are looked after' },
  ),
  retries: field(
    section('Retries', {
      most: field(whole(0, 10), { default: retries.most, help: 'for one request' }),
      backoff_ms: field(ms(), { default: retries.backoffMs, help: 'before the first; doubled each time' }),
      budget: field(number(0, 1), { default: retries.budget, help: 'share of requests that may be retries' }),
    }),
    { help: 'other replicas, while the client has not got a byte' },
  ),
  drain_ms: field(ms(), { default: GATEWAY_DEFAULTS.drainMs, help: 'for requests to end when something stops' }),
  decision_log: field(text(), { help: 'file for every decision' }),
  store: field(text(), { help: 'keys, usage and accounts: a file, or postgres://user@host/database' }),
  data_dir: field(text(), {
    defaultText: 'beside the store, else .twinyard',
    help: 'folder for what must survive a crash until the store has it',
  }),
  access: field(
    section('Access', {
      keys: field(choice(['required', 'off']), {
        defaultText: 'required with a store, else off',
        help: 'whether clients need a key',
      }),
      on_store_failure: field(choice(['closed', 'open']), {
        default: access.onStoreFailure,
        help: 'requests while a shared store cannot be asked: refused, or let in',
      }),
      refresh_ms: field(ms(10), { default: access.refreshMs, help: 'until a key changed elsewhere is known here' }),
      wrong_keys_per_minute: field(whole(1, 1_000_000), {
        default: access.wrongKeysPerMinute,
        help: 'from one address',
      }),
      default_output_tokens: field(whole(0, 10_000_000), {
        default: access.defaultOutputTokens,
        help: 'reserved for an answer whose request names no most',
      }),
    }),
    { help: 'who may ask, and how much' },
  ),
  prices: field(
    list(
      section('A price', {
        model: required(text(), { help: 'of this model' }),
        input: required(dollars, { help: 'dollars for a million tokens of prompts' }),
        cached_input: field(dollars, { defaultText: 'as input', help: 'the same, for those found in a cache' }),
        output: required(dollars, { help: 'the same, for tokens of answers' }),
      }),
    ),
    { help: 'for budgets in money' },
  ),
  record: field(text(), { help: 'file for every request, without any text, to be replayed' }),
  access_log: field(text(), { help: "file for one line per request; '-' for stderr" }),
  tracing: field(
    section('Tracing', {
      endpoint: required(text(), { help: 'of a collector, as in http://127.0.0.1:4318' }),
      sample: field(number(0, 1), { default: 1, help: 'share of the traces begun here' }),
    }),
    { help: 'spans over OTLP' },
  ),
  seed: field(whole(0, Number.MAX_SAFE_INTEGER), {
    default: GATEWAY_DEFAULTS.seed,
    help: 'start of all random streams',
  }),
});
