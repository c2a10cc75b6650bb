import { DEFAULT_ENGINE } from '../../engines/engine.js';
import { MEASURED_ENGINES } from '../../engines/registry.js';
import { POLICY_SCHEMA } from '../../policy/bundle/policy-schema.js';
import { choice, field, list, number, pattern, required, section, text, whole } from '../../schema/fields.js';
import { JWT_SCHEMA } from './jwt-schema.js';

const MOST_MS = 86_400_000;
const MOST = 2 ** 31 - 1;
const ms = (least = 0) => whole(least, MOST_MS);
const dollars = number(0, 1_000_000);

const LISTEN_SCHEMA = section('Port', {
  host: field(text(), { default: '127.0.0.1', help: 'address to listen on; 0.0.0.0 for all' }),
  port: field(whole(0, 65_535), { defaultText: '8080, admin 8081', help: 'port; 0 for a free one' }),
  cert: field(text(), { help: 'TLS certificate file' }),
  key: field(text(), { help: 'TLS key file' }),
  client_ca: field(text(), { help: 'CA file: clients need a certificate that it signed (mTLS)' }),
});

/** What an engine runs on, which no engine reports. */
const HARDWARE = {
  hardware: field(pattern(/^[\w.+-]{1,63}$/, 'letters, digits and . _ + -'), {
    defaultText: 'not known',
    help: 'GPU, such as H100: replicas of different GPUs get latency profiles of their own',
  }),
  tp: field(whole(1, 1024), {
    defaultText: 'not known',
    help: 'tensor parallelism: GPUs over which each layer is split; a part of the latency profile as well',
  }),
};

/** A replica, as files and the API describe it. */
export const REPLICA_SCHEMA = section('Replica', {
  url: required(text(), { help: 'scheme, host and port' }),
  id: field(text(), { defaultText: 'host and port', help: 'name in headers, metrics and explanations' }),
  engine: field(choice(MEASURED_ENGINES.map(({ name }) => name)), { default: DEFAULT_ENGINE, help: 'engine it runs' }),
  model: field(text(), { defaultText: 'read from the replica', help: 'model it serves' }),
  ...HARDWARE,
});

export const KUBE_SCHEMA = section('Kubernetes', {
  selector: field(text(), { help: 'label selector of pods, as in app=vllm; one of selector, service and pool' }),
  service: field(text(), { help: 'Service whose EndpointSlices are followed' }),
  pool: field(text(), { help: 'InferencePool (inference.networking.k8s.io/v1) with its selector and ports' }),
  namespace: field(text(), { defaultText: "the context's, or the pod's own", help: 'namespace of all of these' }),
  ports: field(list(text()), {
    default: [],
    help: 'numbers or names of ports, several for several ranks in a pod; none: the one that is declared',
  }),
  kubeconfig: field(text(), {
    defaultText: 'KUBECONFIG, the service account of the pod, or ~/.kube/config',
    help: 'kubeconfig file',
  }),
  context: field(text(), { defaultText: 'the current one', help: 'context in that file' }),
  engine: field(choice(MEASURED_ENGINES.map(({ name }) => name)), { default: DEFAULT_ENGINE, help: 'engine they run' }),
  ...HARDWARE,
});

export const RAY_SERVE_SCHEMA = section('Ray Serve', {
  url: required(text(), { help: 'address of the dashboard, as in http://10.0.0.1:8265' }),
  app: field(text(), { defaultText: 'that with the route prefix /', help: 'application whose replicas are followed' }),
  token_file: field(text(), { help: 'file with the token of Ray; read again before each request' }),
  ca_file: field(text(), { defaultText: "the system's certificates", help: 'certificates to trust for https' }),
  engine: field(choice(MEASURED_ENGINES.map(({ name }) => name)), { default: DEFAULT_ENGINE, help: 'engine they run' }),
  ...HARDWARE,
});

const ENDPOINT_SCHEMA = section('Endpoint', {
  name: required(text(), { help: 'name in paths and explanations' }),
  replicas: field(list(REPLICA_SCHEMA), { help: 'its replicas' }),
  kube: field(KUBE_SCHEMA, { help: 'where replicas are found in a Kubernetes cluster' }),
  ray_serve: field(RAY_SERVE_SCHEMA, { help: 'the Ray Serve whose replicas are found' }),
  policy: field(POLICY_SCHEMA, { help: 'in place of the top-level policy' }),
});

export const LIMITS_SCHEMA = section('Limits', {
  body_bytes: field(whole(1024, MOST), { default: 64 * 1024 * 1024, help: 'size of a request body' }),
  inflight_bytes: field(whole(1024), {
    default: 512 * 1024 * 1024,
    help: 'bodies of all requests that have not ended; at least body_bytes',
  }),
  inflight_bytes_per_key: field(whole(1024), {
    default: 256 * 1024 * 1024,
    help: 'the part of inflight_bytes that one API key may use',
  }),
  header_bytes: field(whole(1024, 1_048_576), { default: 64 * 1024, help: 'size of all headers', restart: true }),
  decisions: field(whole(1, 1_000_000), { default: 10_000, help: 'decisions kept in memory', restart: true }),
  connections: field(whole(1, 1_000_000), {
    default: 10_000,
    help: 'client connections; further ones are refused',
    restart: true,
  }),
  connections_per_address: field(whole(1, 1_000_000), {
    default: 2500,
    help: 'connections from one address, of IPv6 from one /64 network; trusted proxies have no such limit',
    restart: true,
  }),
  log_bytes: field(whole(1024), {
    default: 256 * 1024 * 1024,
    help: 'size at which a file of `record` or `access_log` is rotated',
    restart: true,
  }),
  log_files: field(whole(1, 1000), { default: 4, help: 'rotated files kept', restart: true }),
});

export const TIMEOUTS_SCHEMA = section('Time-outs', {
  connect_ms: field(ms(1), { default: 2000, help: 'connecting to a replica' }),
  first_byte_ms: field(ms(1), { default: 300_000, help: "from the request's last byte to the first of the response" }),
  first_byte_floor_ms: field(ms(1), {
    default: 3000,
    help: 'least time until a request is tried elsewhere because first bytes usually come earlier; at first_byte_ms none is',
  }),
  idle_ms: field(ms(1), { default: 120_000, help: 'between two chunks of the response' }),
  total_ms: field(ms(1), { default: 1_800_000, help: 'the whole request' }),
  headers_ms: field(ms(1), { default: 10_000, help: 'reading the headers of a request', restart: true }),
  body_ms: field(ms(1), { default: 120_000, help: 'reading the whole request', restart: true }),
});

export const HEALTH_SCHEMA = section('Health', {
  interval_ms: field(ms(10), { default: 2000, help: 'time between two checks' }),
  timeout_ms: field(ms(10), { default: 2000, help: 'time-out of a check' }),
  failures: field(whole(1, 1000), { default: 2, help: 'failed checks in a row that make a replica unhealthy' }),
  breaker_failures: field(whole(1, 1000), {
    default: 5,
    help: 'failed requests in a row that open its circuit breaker',
  }),
  breaker_share: field(number(0.01, 1), {
    default: 0.5,
    help: 'share of failed requests within breaker_window_ms that opens it; at least 10 requests',
  }),
  breaker_window_ms: field(ms(), { default: 10_000, help: 'length of that window; 0: only failures in a row count' }),
  breaker_ms: field(ms(), {
    default: 5000,
    help: 'time until an open breaker admits one request as a probe; a passing health check admits it earlier',
  }),
  slow_start_ms: field(ms(), { default: 10_000, help: 'time in which a new replica gets less than its share' }),
  wait_ms: field(ms(), { default: 2000, help: 'longest wait for a replica of a declared endpoint to become ready' }),
  signals_ms: field(ms(10), { default: 1000, help: 'time between two reads of its metrics' }),
  stale_ms: field(ms(10), { default: 5000, help: 'age from which metrics are ignored' }),
});

export const RETRIES_SCHEMA = section('Retries', {
  most: field(whole(0, 10), { default: 2, help: 'retries of one request' }),
  backoff_ms: field(ms(), { default: 25, help: 'pause before the first; doubled each time' }),
  budget: field(number(0, 1), { default: 0.2, help: 'share of requests that may be retries' }),
});

export const ACCESS_SCHEMA = section('Access', {
  keys: field(choice(['required', 'optional', 'off']), {
    defaultText: 'required with a store, else off',
    help: 'whether requests need an API key; optional: those without one are served, those with one count for it',
    restart: true,
  }),
  on_store_failure: field(choice(['closed', 'open']), {
    default: 'closed',
    help: 'while a shared store is unreachable, requests are refused (closed) or admitted (open)',
  }),
  refresh_ms: field(ms(10), { default: 1000, help: 'time until a key changed elsewhere is known here' }),
  metrics: field(choice(['auto', 'open', 'token']), {
    default: 'auto',
    help: 'whether `/metrics` needs the admin token, or an API key with the role viewer, which reads those of its workspaces; auto: with several workspaces',
  }),
  wrong_keys_per_minute: field(whole(1, 1_000_000), { default: 30, help: 'wrong keys accepted from one address' }),
  default_output_tokens: field(whole(0, 10_000_000), {
    default: 256,
    help: 'tokens reserved for a response whose request sets no maximum',
  }),
  jwt: field(JWT_SCHEMA, { help: 'tokens of an OpenID Connect issuer, accepted like API keys', restart: true }),
});

export const REQUESTS_SCHEMA = section('Requests', {
  keep_hours: field(whole(0, 8784), {
    default: 24,
    help: 'how long the store keeps requests that have ended, without their text; 0: it keeps none',
  }),
  most_rows: field(whole(100, 100_000_000), {
    default: 200_000,
    help: 'most requests that the store keeps, about 1.5 kB each; beyond that the oldest are deleted',
  }),
});

const ORIGIN = /^(\*|[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+)$/i;
const HOST_NAME = /^[a-z0-9_.:-]+$/i;

export const HTTP_SCHEMA = section('HTTP', {
  hosts: field(list(pattern(HOST_NAME, 'a host name without port')), {
    default: [],
    help: 'names of this gateway in `host` and `origin`, besides local ones; checked where no key is needed',
    restart: true,
  }),
  cors_origins: field(list(pattern(ORIGIN, "an origin such as https://ui.example.com, or '*'")), {
    default: [],
    help: "origins whose pages may call this gateway (CORS); '*' for all",
    restart: true,
  }),
  unknown_paths: field(choice(['refuse', 'pass']), {
    default: 'refuse',
    help: 'what happens with paths below /v1 that the gateway does not know',
  }),
  trusted_proxies: field(list(text(64)), {
    default: [],
    help: 'addresses and networks of proxies whose `x-forwarded-for` is believed, as in 10.0.0.0/8',
    restart: true,
  }),
});

const REPLICA_TLS_SCHEMA = section('Replica TLS', {
  ca: field(text(), {
    defaultText: 'those of Node.js',
    help: 'CA file that certificates of replicas are checked with',
  }),
  cert: field(text(), { help: 'certificate file presented to replicas (mTLS)' }),
  key: field(text(), { help: 'its key file' }),
});

const PRICE_SCHEMA = section('Price', {
  model: required(text(), { help: 'model' }),
  input: required(dollars, { help: 'dollars per million prompt tokens' }),
  cached_input: field(dollars, { defaultText: 'as input', help: 'dollars per million cached prompt tokens' }),
  output: required(dollars, { help: 'dollars per million response tokens' }),
});

const TRACING_SCHEMA = section('Tracing', {
  endpoint: required(text(), { help: 'OTLP collector, as in http://127.0.0.1:4318' }),
  sample: field(number(0, 1), { default: 1, help: 'share of the traces begun here that are sent' }),
});

/** Every key of twinyard.yaml. */
export const GATEWAY_SCHEMA = section('twinyard.yaml', {
  listen: field(LISTEN_SCHEMA, { help: 'public port, for clients', restart: true }),
  admin: field(LISTEN_SCHEMA, { help: 'admin port, for metrics and the API', restart: true }),
  replicas: field(list(REPLICA_SCHEMA), { help: 'replicas of the endpoint "default"' }),
  kube: field(KUBE_SCHEMA, { help: 'where replicas of the endpoint "default" are found in a Kubernetes cluster' }),
  ray_serve: field(RAY_SERVE_SCHEMA, { help: 'the Ray Serve whose replicas the endpoint "default" has' }),
  policy: field(POLICY_SCHEMA, { help: 'policy of endpoints that set none' }),
  endpoints: field(list(ENDPOINT_SCHEMA), { help: 'endpoints: sets of replicas, each with a policy' }),
  limits: field(LIMITS_SCHEMA, { default: {}, help: 'maximum sizes and counts' }),
  timeouts: field(TIMEOUTS_SCHEMA, { default: {}, help: 'time-outs in milliseconds' }),
  health: field(HEALTH_SCHEMA, { default: {}, help: 'how replicas are watched' }),
  retries: field(RETRIES_SCHEMA, {
    default: {},
    help: 'retries on other replicas, as long as the client has received nothing',
  }),
  drain_ms: field(ms(), {
    default: 30_000,
    help: 'time for requests to end when a replica leaves or the gateway stops',
  }),
  decision_log: field(text(), { help: 'file that every decision is written to', restart: true }),
  store: field(text(), {
    help: 'database of keys, usage and resources: a file, or postgres://user@host/database',
    restart: true,
  }),
  leader_lease: field(text(), {
    defaultText: 'the store decides',
    help: 'Kubernetes Lease that elects the control plane among several, as in prod/twinyard',
    restart: true,
  }),
  data_dir: field(text(), {
    defaultText: 'beside the store, else .twinyard',
    help: 'folder for usage that is not yet in the store, and for logs of replicas',
    restart: true,
  }),
  access: field(ACCESS_SCHEMA, { default: {}, help: 'API keys and reservations' }),
  requests: field(REQUESTS_SCHEMA, { default: {}, help: 'requests that the store keeps, for the API and the console' }),
  http: field(HTTP_SCHEMA, { default: {}, help: 'web pages and proxies in front of both ports' }),
  replica_tls: field(REPLICA_TLS_SCHEMA, { help: 'TLS to replicas whose URL is https', restart: true }),
  prices: field(list(PRICE_SCHEMA), { help: 'prices, for budgets in dollars' }),
  record: field(text(), { help: 'file that every request is recorded in, without text, for replay', restart: true }),
  access_log: field(text(), { help: "file with one line per request; '-' for stderr", restart: true }),
  tracing: field(TRACING_SCHEMA, { help: 'spans sent by OTLP', restart: true }),
  seed: field(whole(0), { default: 42, help: 'seed of all random streams', restart: true }),
});
