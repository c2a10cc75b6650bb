import * as v from 'valibot';
import type { KubeTarget } from '../../kube/discovery/kube-target.js';
import type { LeaseTarget } from '../../kube/election/lease-name.js';
import type { PolicyChoice } from '../../policy/bundle/admission-choice.js';
import { POLICY_SCHEMA } from '../../policy/bundle/policy-schema.js';
import type { ShadowChoice } from '../../policy/bundle/shadow-choice.js';
import type { FlowControlSettings } from '../../policy/queueing/flow-control-settings.js';
import type { RayServeTarget } from '../../ray/serve/serve-target.js';
import type { Value } from '../../schema/fields.js';
import { type CamelKeys, camelKeys } from '../../schema/names.js';
import {
  type ACCESS_SCHEMA,
  GATEWAY_SCHEMA,
  type HTTP_SCHEMA,
  type LIMITS_SCHEMA,
  type REQUESTS_SCHEMA,
  type RETRIES_SCHEMA,
  type TIMEOUTS_SCHEMA,
} from './config-schema.js';

/** The keys of twinyard.yaml with their defaults. */
export type ConfigValues = Value<typeof GATEWAY_SCHEMA>;

/** The complete, checked configuration of a gateway: plain data, so that it can be compared, printed and reloaded. */
export interface GatewayConfig {
  listen: ListenConfig;
  admin: ListenConfig;
  endpoints: readonly EndpointConfig[];
  timeouts: CamelKeys<Value<typeof TIMEOUTS_SCHEMA>>;
  limits: CamelKeys<Value<typeof LIMITS_SCHEMA>>;
  health: { intervalMs: number; timeoutMs: number; failures: number };
  breaker: { failures: number; share: number; windowMs: number; openMs: number };
  retries: CamelKeys<Value<typeof RETRIES_SCHEMA>>;
  signals: { intervalMs: number; staleMs: number };
  /** How long a new replica gets less than its share. */
  slowStartMs: number;
  /**
   * How long a request waits for a replica of a managed endpoint when none is ready; 0: not at
   * all.
   */
  waitMs: number;
  /** The drain time of requests when a replica leaves or the gateway stops. */
  drainMs: number;
  /** The decision log, for replays; null for none. */
  decisionLog: string | null;
  /**
   * The store of keys, usage and accounts: a SQLite file, or the URL of a PostgreSQL database; null for none.
   */
  store: string | null;
  /** The Lease that elects the control plane among those of the store; null: the store does. */
  leaderLease: LeaseTarget | null;
  access: AccessConfig;
  /** Requests that the store keeps. */
  requests: CamelKeys<Value<typeof REQUESTS_SCHEMA>>;
  http: HttpConfig;
  /** Files for the connections to replicas; a certificate has its key. */
  replicaTls: { ca: string | null; cert: string | null; key: string | null } | null;
  prices: readonly Price[];
  /** The recording of requests, without any text, for replays. */
  record: LinesConfig | null;
  accessLog: LinesConfig | null;
  /** The OTLP collector, and the share of traces started here that are exported. */
  tracing: { endpoint: string; sample: number } | null;
  /** The folder for data that must survive a crash until it is in the store. */
  dataDir: string;
  seed: number;
}

/** API keys and their limits. */
export type AccessConfig = CamelKeys<Value<typeof ACCESS_SCHEMA>> & { keys: 'required' | 'optional' | 'off' };

/** Web pages and proxies in front of the ports. */
export type HttpConfig = CamelKeys<Value<typeof HTTP_SCHEMA>>;

/** Of a model, in dollars per million tokens. */
export interface Price {
  model: string;
  input: number;
  cachedInput: number;
  output: number;
}

/** A rotated log file, and how many old files are kept. */
export interface LinesConfig {
  /** '-' for stderr. */
  path: string;
  maxBytes: number;
  files: number;
}

/** Files of a port with TLS. */
export interface TlsConfig {
  cert: string;
  key: string;
  /** Clients need a certificate that it signed; absent: they need none. */
  clientCa?: string;
}

export interface ListenConfig {
  host: string;
  port: number;
  tls: TlsConfig | null;
}

/** A set of replicas with one policy. */
export interface EndpointConfig {
  name: string;
  policy: PolicyConfig;
  replicas: readonly ReplicaConfig[];
  /** Where more replicas are found. */
  kube?: KubeSource;
  rayServe?: RayServeSource;
}

/** Replicas in a Kubernetes cluster, and the engine that they run. */
export interface KubeSource extends FoundHardware {
  target: KubeTarget;
  engine: string;
}

/** Replicas of a Ray Serve application, and the engine that they run. */
export interface RayServeSource extends FoundHardware {
  target: RayServeTarget;
  engine: string;
}

/** What all replicas that are found run on. */
export type FoundHardware = Pick<ReplicaConfig, 'hardware' | 'tp'>;

export interface PolicyConfig {
  name: string;
  options: Readonly<Record<string, unknown>>;
  /** Tokens per block where the policy leaves it to its host, and blocks remembered per replica. */
  blockSize: number;
  cacheBlocks: number;
  /** The admission policy. */
  admission: PolicyChoice;
  /** SLO classes whose priority differs from the built-in ones. */
  sloPriorities: Readonly<Record<string, number>>;
  /** Tenant to its share of the fleet's seats, 0..1, and how many of them a replica has. */
  tenantBudgets: Readonly<Record<string, number>>;
  seatsPerReplica: number;
  /** The queue in front of the fleet; null: requests go on at once. */
  flowControl: FlowControlSettings | null;
  /** Policies that decide about the same requests and place none. */
  shadows: readonly ShadowChoice[];
}

export interface ReplicaConfig {
  id: string;
  /** Scheme, host and port; the paths are the client's. */
  url: string;
  /** The engine behind it, as the registry of signals names it. */
  engine: string;
  /** The models it serves; null: query the replica. */
  models: readonly string[] | null;
  /** Its GPU, such as H100: replicas of different GPUs have latency profiles of their own. */
  hardware?: string;
  /** Over how many of them each layer is split; as the GPU, part of what a latency profile is of. */
  tp?: number;
  /** Connections to addresses of this machine, its network segment and metadata services are refused: no admin has added it. */
  isGuarded?: true;
}

const POLICY_DEFAULTS = v.parse(POLICY_SCHEMA, { routing: {} });

export const DEFAULT_POLICY: PolicyConfig = {
  name: 'unified',
  options: {},
  blockSize: POLICY_DEFAULTS.routing!.block_size,
  cacheBlocks: POLICY_DEFAULTS.routing!.cache_blocks,
  admission: { policy: 'always-admit', options: {} },
  sloPriorities: {},
  tenantBudgets: {},
  seatsPerReplica: POLICY_DEFAULTS.max_num_seqs,
  flowControl: null,
  shadows: [],
};

type Settings = Pick<
  GatewayConfig,
  | 'requests'
  | 'http'
  | 'limits'
  | 'timeouts'
  | 'health'
  | 'breaker'
  | 'retries'
  | 'signals'
  | 'slowStartMs'
  | 'waitMs'
  | 'drainMs'
  | 'seed'
>;

/** The settings of a file that are plain values. */
export function settingsOf(keys: ConfigValues): Settings {
  const health = camelKeys(keys.health);
  return {
    requests: camelKeys(keys.requests),
    http: camelKeys(keys.http),
    limits: camelKeys(keys.limits),
    timeouts: camelKeys(keys.timeouts),
    health: { intervalMs: health.intervalMs, timeoutMs: health.timeoutMs, failures: health.failures },
    breaker: {
      failures: health.breakerFailures,
      share: health.breakerShare,
      windowMs: health.breakerWindowMs,
      openMs: health.breakerMs,
    },
    retries: camelKeys(keys.retries),
    signals: { intervalMs: health.signalsMs, staleMs: health.staleMs },
    slowStartMs: health.slowStartMs,
    waitMs: health.waitMs,
    drainMs: keys.drain_ms,
    seed: keys.seed,
  };
}

const NOTHING_SAID = v.parse(GATEWAY_SCHEMA, {});

/** The defaults: loopback, and no file written. */
export const GATEWAY_DEFAULTS: GatewayConfig = {
  ...settingsOf(NOTHING_SAID),
  listen: { host: '127.0.0.1', port: 8080, tls: null },
  admin: { host: '127.0.0.1', port: 8081, tls: null },
  endpoints: [],
  decisionLog: null,
  store: null,
  leaderLease: null,
  access: { ...camelKeys(NOTHING_SAID.access), keys: 'off' },
  prices: [],
  replicaTls: null,
  record: null,
  accessLog: null,
  tracing: null,
  dataDir: '.twinyard',
};
