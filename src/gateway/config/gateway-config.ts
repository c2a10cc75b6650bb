import type { PolicyChoice } from '../../policy/bundle/admission-choice.js';
import type { FlowControlSettings } from '../../policy/queueing/flow-control-settings.js';

/** Everything a gateway is told, complete and checked: plain data, so that it can be compared, printed and reloaded. */
export interface GatewayConfig {
  listen: ListenConfig;
  admin: ListenConfig;
  endpoints: readonly EndpointConfig[];
  timeouts: {
    connectMs: number;
    /** From the request's last byte to the first of the response. */
    firstByteMs: number;
    /** Between two pieces of a response. */
    idleMs: number;
    totalMs: number;
    /** For a client to send its headers, and its whole request. */
    headersMs: number;
    bodyMs: number;
  };
  limits: { bodyBytes: number; headerBytes: number; decisions: number; connections: number };
  health: { intervalMs: number; timeoutMs: number; failures: number };
  breaker: { failures: number; openMs: number };
  retries: { most: number; backoffMs: number; budget: number };
  signals: { intervalMs: number; staleMs: number };
  /** How long a replica that joins is given less than its share. */
  slowStartMs: number;
  /** How long a request waits for a replica of an endpoint that the control plane keeps when none is ready; 0: not at all. */
  waitMs: number;
  /** How long requests may take to end when a replica leaves or the gateway stops. */
  drainMs: number;
  /** Where every decision is written so that it can be decided again; null for nowhere. */
  decisionLog: string | null;
  /** Where keys, usage and accounts are: a file of SQLite's, or the URL of a PostgreSQL database; null for none of them. */
  store: string | null;
  access: AccessConfig;
  prices: readonly Price[];
  /** Where requests are recorded, without any text, so that they can be replayed. */
  record: LinesConfig | null;
  accessLog: LinesConfig | null;
  /** Where spans are sent by OTLP, and the share of traces begun here that are. */
  tracing: { endpoint: string; sample: number } | null;
  /** Folder for what must survive a crash until the store has it. */
  dataDir: string;
  seed: number;
}

/** Who may ask. */
export interface AccessConfig {
  keys: 'required' | 'off';
  /** Whether requests are let in while the store that counts them cannot be asked. */
  onStoreFailure: 'closed' | 'open';
  /** How soon a key that was changed elsewhere is known here. */
  refreshMs: number;
  wrongKeysPerMinute: number;
  /** Reserved for the response of a request that does not say how long it may become. */
  defaultOutputTokens: number;
}

/** Of a model, in dollars per million tokens. */
export interface Price {
  model: string;
  input: number;
  cachedInput: number;
  output: number;
}

/** A file of lines that begins anew when it is full; so many old ones are kept. */
export interface LinesConfig {
  /** '-' for stderr. */
  path: string;
  maxBytes: number;
  files: number;
}

export interface ListenConfig {
  host: string;
  port: number;
  tls: { cert: string; key: string } | null;
}

/** A set of replicas with one policy. */
export interface EndpointConfig {
  name: string;
  policy: PolicyConfig;
  replicas: readonly ReplicaConfig[];
}

export interface PolicyConfig {
  name: string;
  options: Readonly<Record<string, unknown>>;
  /** Tokens per block where the policy leaves it to its host, and blocks remembered per replica. */
  blockSize: number;
  cacheBlocks: number;
  /** Who may enter. */
  admission: PolicyChoice;
  /** SLO classes whose priority differs from the built-in ones. */
  sloPriorities: Readonly<Record<string, number>>;
  /** Tenant to its share of the fleet's seats, 0..1, and how many of them a replica has. */
  tenantBudgets: Readonly<Record<string, number>>;
  seatsPerReplica: number;
  /** The queue in front of the fleet; null: requests go on at once. */
  flowControl: FlowControlSettings | null;
}

export interface ReplicaConfig {
  id: string;
  /** Scheme, host and port; the paths are the client's. */
  url: string;
  /** The engine behind it, as the registry of signals names it. */
  engine: string;
  /** What it serves; null: ask it. */
  models: readonly string[] | null;
}

export const DEFAULT_POLICY: PolicyConfig = {
  name: 'weighted',
  options: {},
  blockSize: 16,
  cacheBlocks: 10_000,
  admission: { policy: 'always-admit', options: {} },
  sloPriorities: {},
  tenantBudgets: {},
  seatsPerReplica: 256,
  flowControl: null,
};

/** How large a file of lines becomes, and how many old ones are kept. */
export const DEFAULT_LINES = { maxBytes: 256 * 1024 * 1024, files: 4 };

/** What holds where a configuration says nothing. Loopback, and no file written. */
export const GATEWAY_DEFAULTS: GatewayConfig = {
  listen: { host: '127.0.0.1', port: 8080, tls: null },
  admin: { host: '127.0.0.1', port: 8081, tls: null },
  endpoints: [],
  timeouts: {
    connectMs: 2000,
    firstByteMs: 300_000,
    idleMs: 120_000,
    totalMs: 1_800_000,
    headersMs: 10_000,
    bodyMs: 120_000,
  },
  limits: { bodyBytes: 16 * 1024 * 1024, headerBytes: 64 * 1024, decisions: 10_000, connections: 10_000 },
  health: { intervalMs: 2000, timeoutMs: 2000, failures: 2 },
  breaker: { failures: 5, openMs: 5000 },
  retries: { most: 2, backoffMs: 25, budget: 0.2 },
  signals: { intervalMs: 1000, staleMs: 5000 },
  slowStartMs: 10_000,
  waitMs: 2000,
  drainMs: 30_000,
  decisionLog: null,
  store: null,
  access: { keys: 'off', onStoreFailure: 'closed', refreshMs: 1000, wrongKeysPerMinute: 30, defaultOutputTokens: 256 },
  prices: [],
  record: null,
  accessLog: null,
  tracing: null,
  dataDir: '.twinyard',
  seed: 42,
};
