import * as v from 'valibot';
import {
  ACCESS_SCHEMA,
  HEALTH_SCHEMA,
  HTTP_SCHEMA,
  LIMITS_SCHEMA,
  REQUESTS_SCHEMA,
  RETRIES_SCHEMA,
  TIMEOUTS_SCHEMA,
} from '../../gateway/config/config-schema.js';
import type { EndpointConfig, GatewayConfig } from '../../gateway/config/gateway-config.js';
import { FLOW_CONTROL_SCHEMA } from '../../policy/bundle/flow-control-schema.js';
import { ROUTING_SCHEMA } from '../../policy/bundle/policy-schema.js';
import { choice, field, section } from '../../schema/fields.js';
import { camelKeys } from '../../schema/names.js';
import { described, naturalNumber, nullable, numeric, openMap, string } from './parts.js';

const listen = section('ListenAddress', {
  host: described(string, 'address to listen on'),
  port: described(naturalNumber, 'port; 0 for a free one'),
  tls: described(
    nullable(
      section('TlsFiles', {
        cert: described(string, 'certificate file'),
        key: described(string, 'key file'),
        clientCa: field(string, { help: 'CA file that certificates of clients are checked with' }),
      }),
    ),
    'TLS; null for none',
  ),
});

const lines = section('LogFile', {
  path: described(string, 'file; - for stderr'),
  maxBytes: described(naturalNumber, 'size at which it is rotated'),
  files: described(naturalNumber, 'rotated files kept'),
});

const price = section('PriceInForce', {
  model: described(string, 'model'),
  input: described(numeric, 'dollars per million prompt tokens'),
  cachedInput: described(numeric, 'dollars per million cached prompt tokens'),
  output: described(numeric, 'dollars per million response tokens'),
});

const {
  dispatch_tick_ms: _tick,
  max_queue_depth: { wrapped: maxQueueDepth },
  request_ttl_ms: _ttl,
  ...queue
} = FLOW_CONTROL_SCHEMA.entries;

const flowControl = section('FlowControlInForce', {
  ...camelKeys(queue),
  maxQueueDepth,
  dispatchTickUs: described(numeric, 'microseconds between dispatches; 0: on each completion'),
  requestTtlUs: described(numeric, 'longest wait in the queue in microseconds; 0: no limit'),
  sloTargetsUs: described(v.record(v.string(), numeric), 'microseconds by class, for slo-deadline'),
});

const policy = section('PolicyInForce', {
  name: described(string, 'routing policy'),
  options: described(openMap, 'its options by name'),
  blockSize: ROUTING_SCHEMA.entries.block_size,
  cacheBlocks: ROUTING_SCHEMA.entries.cache_blocks,
  admission: described(
    section('AdmissionInForce', {
      policy: described(string, 'admission policy'),
      options: described(openMap, 'its options by name'),
    }),
    'which requests are admitted',
  ),
  sloPriorities: described(v.record(v.string(), numeric), 'priorities by class'),
  tenantBudgets: described(v.record(v.string(), numeric), "shares of the fleet's seats by tenant"),
  seatsPerReplica: described(naturalNumber, 'seats per replica, for tenantBudgets'),
  flowControl: described(nullable(flowControl), 'the queue in front of the fleet; null for none'),
  shadows: described(
    v.array(
      section('ShadowInForce', {
        name: described(string, 'name of the shadow'),
        policy: described(string, 'routing policy'),
        options: described(openMap, 'its options by name'),
      }),
    ),
    'policies that decide about the same requests and place none',
  ),
});

const endpoint: v.GenericSchema<unknown, EndpointConfig> = section('EndpointInForce', {
  name: described(string, 'name of the endpoint'),
  policy: described(policy, 'its policy'),
  replicas: described(
    v.array(
      section('ReplicaInForce', {
        id: described(string, 'id of the replica'),
        url: described(string, 'scheme, host and port'),
        engine: described(string, 'engine it runs'),
        models: described(nullable(v.array(string)), 'models it serves; null: read from the replica'),
      }),
    ),
    'its replicas',
  ),
});

const health = camelKeys(HEALTH_SCHEMA.entries);

/** The configuration in force: sections of twinyard.yaml with their defaults, keys in camelCase. */
export const CONFIGURATION: v.GenericSchema<unknown, GatewayConfig> = section('Configuration', {
  listen: described(listen, 'public port, for clients'),
  admin: described(listen, 'admin port, for metrics and the API'),
  endpoints: described(v.array(endpoint), 'endpoints of the configuration file as they are now'),
  timeouts: described(section('TimeoutsInForce', camelKeys(TIMEOUTS_SCHEMA.entries)), 'time-outs in milliseconds'),
  limits: described(section('LimitsInForce', camelKeys(LIMITS_SCHEMA.entries)), 'maximum sizes and counts'),
  health: described(
    section('HealthInForce', {
      intervalMs: health.intervalMs,
      timeoutMs: health.timeoutMs,
      failures: health.failures,
    }),
    'health checks of replicas',
  ),
  breaker: described(
    section('BreakerInForce', {
      failures: health.breakerFailures,
      share: health.breakerShare,
      windowMs: health.breakerWindowMs,
      openMs: health.breakerMs,
    }),
    'circuit breakers of replicas',
  ),
  retries: described(section('RetriesInForce', camelKeys(RETRIES_SCHEMA.entries)), 'retries on other replicas'),
  signals: described(
    section('SignalsInForce', { intervalMs: health.signalsMs, staleMs: health.staleMs }),
    'how metrics of replicas are read',
  ),
  slowStartMs: health.slowStartMs,
  waitMs: health.waitMs,
  drainMs: described(naturalNumber, 'time for requests to end when a replica leaves or the gateway stops'),
  decisionLog: described(nullable(string), 'file that every decision is written to; null for none'),
  store: described(nullable(string), 'database of keys, usage and resources, without password; null for none'),
  leaderLease: described(
    nullable(
      section('LeaderLease', {
        name: described(string, 'name of the Lease'),
        namespace: described(nullable(string), "its namespace; null: the context's, or the pod's own"),
        kubeconfig: described(nullable(string), 'kubeconfig file; null: as kubectl finds it'),
        context: described(nullable(string), 'context in that file; null: the current one'),
      }),
    ),
    'Kubernetes Lease that elects the control plane; null: the store does',
  ),
  access: described(
    section('AccessInForce', {
      ...camelKeys(ACCESS_SCHEMA.entries),
      keys: described(choice(['required', 'off']), 'whether requests need an API key'),
    }),
    'API keys and reservations',
  ),
  requests: described(section('RequestsInForce', camelKeys(REQUESTS_SCHEMA.entries)), 'requests that the store keeps'),
  http: described(
    section('HttpInForce', camelKeys(HTTP_SCHEMA.entries)),
    'web pages and proxies in front of both ports',
  ),
  replicaTls: described(
    nullable(
      section('ReplicaTlsFiles', {
        ca: described(nullable(string), 'CA file'),
        cert: described(nullable(string), 'certificate file'),
        key: described(nullable(string), 'key file'),
      }),
    ),
    'TLS to replicas; null for the defaults',
  ),
  prices: described(v.array(price), 'prices, for budgets in dollars'),
  record: described(nullable(lines), 'file that requests are recorded in; null for none'),
  accessLog: described(nullable(lines), 'file with one line per request; null for none'),
  tracing: described(
    nullable(
      section('TracingInForce', {
        endpoint: described(string, 'OTLP collector'),
        sample: described(numeric, 'share of the traces begun here that are sent'),
      }),
    ),
    'spans sent by OTLP; null for none',
  ),
  dataDir: described(string, 'folder for what must survive a crash until the store has it'),
  seed: described(naturalNumber, 'seed of all random streams'),
});
