import { MEASURED_ENGINES } from '../../engines/registry.js';
import { type Kind, number, text, whole } from '../../kernel/yaml/schema.js';
import { BUNDLE_KIND } from '../../policy/bundle/bundle-keys.js';
import { DEFAULT_LINES, GATEWAY_DEFAULTS } from './gateway-config.js';

const MOST_MS = 86_400_000;
const MOST = 2 ** 31 - 1;
const ms = (least = 0): Kind => whole(least, MOST_MS);

const listenKind: Extract<Kind, { type: 'keys' }> = {
  type: 'keys',
  title: 'A port',
  keys: {
    host: { kind: text(), default: '127.0.0.1', help: 'address; 0.0.0.0 for all' },
    port: { kind: whole(0, 65_535), default: '8080, admin 8081', help: 'port; 0 for a free one' },
    cert: { kind: text(), help: 'certificate file for TLS' },
    key: { kind: text(), help: 'its key' },
  },
};

/** A replica, as files and the admin API describe it. */
export const REPLICA_KIND: Extract<Kind, { type: 'keys' }> = {
  type: 'keys',
  title: 'A replica',
  keys: {
    url: { kind: text(), needed: true, help: 'scheme, host and port' },
    id: { kind: text(), default: 'host and port', help: 'its name in headers, metrics and explanations' },
    engine: { kind: text(MEASURED_ENGINES.map(({ name }) => name)), default: 'vllm', help: 'what it runs' },
    model: { kind: text(), default: 'it is asked', help: 'what it serves' },
  },
};

const { access, breaker, health, limits, retries, signals, timeouts } = GATEWAY_DEFAULTS;
const dollars = number(0, 1_000_000);

/** Every key of twinyard.yaml. */
export const GATEWAY_SCHEMA: Extract<Kind, { type: 'keys' }> = {
  type: 'keys',
  title: 'twinyard.yaml',
  keys: {
    listen: { kind: listenKind, help: 'where clients connect' },
    admin: { kind: listenKind, help: 'where metrics and the admin API are' },
    replicas: { kind: { type: 'list', of: REPLICA_KIND }, help: 'replicas of the endpoint "default"' },
    policy: { kind: BUNDLE_KIND, help: 'of endpoints that name none' },
    endpoints: {
      help: 'sets of replicas, each with a policy of its own',
      kind: {
        type: 'list',
        of: {
          type: 'keys',
          title: 'An endpoint',
          keys: {
            name: { kind: text(), needed: true, help: 'its name in paths and explanations' },
            replicas: { kind: { type: 'list', of: REPLICA_KIND }, needed: true, help: 'who serves it' },
            policy: { kind: BUNDLE_KIND, help: 'instead of the one for all' },
          },
        },
      },
    },
    limits: {
      help: 'the most of everything',
      kind: {
        type: 'keys',
        title: 'Limits',
        keys: {
          body_bytes: { kind: whole(1024, MOST), default: String(limits.bodyBytes), help: "a request's body" },
          header_bytes: { kind: whole(1024, 1_048_576), default: String(limits.headerBytes), help: 'all its headers' },
          decisions: { kind: whole(1, 1_000_000), default: String(limits.decisions), help: 'decisions remembered' },
          connections: {
            kind: whole(1, 1_000_000),
            default: String(limits.connections),
            help: 'of clients, at once; more are turned away',
          },
          log_bytes: {
            kind: whole(1024, Number.MAX_SAFE_INTEGER),
            default: String(DEFAULT_LINES.maxBytes),
            help: 'a file of `record` or `access_log`, before the next is begun',
          },
          log_files: { kind: whole(1, 1000), default: String(DEFAULT_LINES.files), help: 'such files kept' },
        },
      },
    },
    timeouts: {
      help: 'in milliseconds',
      kind: {
        type: 'keys',
        title: 'Time-outs',
        keys: {
          connect_ms: { kind: ms(1), default: String(timeouts.connectMs), help: 'to reach a replica' },
          first_byte_ms: { kind: ms(1), default: String(timeouts.firstByteMs), help: 'until its answer begins' },
          idle_ms: { kind: ms(1), default: String(timeouts.idleMs), help: 'between two pieces of it' },
          total_ms: { kind: ms(1), default: String(timeouts.totalMs), help: 'for all of it' },
          headers_ms: { kind: ms(1), default: String(timeouts.headersMs), help: 'for a client to send its headers' },
          body_ms: { kind: ms(1), default: String(timeouts.bodyMs), help: 'for it to send the whole request' },
        },
      },
    },
    health: {
      help: 'how replicas are looked after',
      kind: {
        type: 'keys',
        title: 'Health',
        keys: {
          interval_ms: { kind: ms(10), default: String(health.intervalMs), help: 'between two checks' },
          timeout_ms: { kind: ms(10), default: String(health.timeoutMs), help: 'for one' },
          failures: { kind: whole(1, 1000), default: String(health.failures), help: 'in a row that make it unhealthy' },
          breaker_failures: {
            kind: whole(1, 1000),
            default: String(breaker.failures),
            help: 'requests in a row that open its breaker',
          },
          breaker_ms: { kind: ms(), default: String(breaker.openMs), help: 'until one may try again' },
          slow_start_ms: {
            kind: ms(),
            default: String(GATEWAY_DEFAULTS.slowStartMs),
            help: 'a newcomer gets less than its share',
          },
          wait_ms: {
            kind: ms(),
            default: String(GATEWAY_DEFAULTS.waitMs),
            help: 'a request waits when no declared replica is ready yet',
          },
          signals_ms: { kind: ms(10), default: String(signals.intervalMs), help: 'between two looks at its metrics' },
          stale_ms: { kind: ms(10), default: String(signals.staleMs), help: 'after which they count no more' },
        },
      },
    },
    retries: {
      help: 'other replicas, while the client has not got a byte',
      kind: {
        type: 'keys',
        title: 'Retries',
        keys: {
          most: { kind: whole(0, 10), default: String(retries.most), help: 'for one request' },
          backoff_ms: { kind: ms(), default: String(retries.backoffMs), help: 'before the first; doubled each time' },
          budget: {
            kind: number(0, 1),
            default: String(retries.budget),
            help: 'share of requests that may be retries',
          },
        },
      },
    },
    drain_ms: {
      kind: ms(),
      default: String(GATEWAY_DEFAULTS.drainMs),
      help: 'for requests to end when something stops',
    },
    decision_log: { kind: text(), help: 'file for every decision' },
    store: { kind: text(), help: 'keys, usage and accounts: a file, or postgres://user@host/database' },
    data_dir: {
      kind: text(),
      default: 'beside the store, else .twinyard',
      help: 'folder for what must survive a crash until the store has it',
    },
    access: {
      help: 'who may ask, and how much',
      kind: {
        type: 'keys',
        title: 'Access',
        keys: {
          keys: {
            kind: text(['required', 'off']),
            default: 'required with a store, else off',
            help: 'whether clients need a key',
          },
          on_store_failure: {
            kind: text(['closed', 'open']),
            default: access.onStoreFailure,
            help: 'requests while a shared store cannot be asked: refused, or let in',
          },
          refresh_ms: {
            kind: ms(10),
            default: String(access.refreshMs),
            help: 'until a key changed elsewhere is known here',
          },
          wrong_keys_per_minute: {
            kind: whole(1, 1_000_000),
            default: String(access.wrongKeysPerMinute),
            help: 'from one address',
          },
          default_output_tokens: {
            kind: whole(0, 10_000_000),
            default: String(access.defaultOutputTokens),
            help: 'reserved for an answer whose request names no most',
          },
        },
      },
    },
    prices: {
      help: 'for budgets in money',
      kind: {
        type: 'list',
        of: {
          type: 'keys',
          title: 'A price',
          keys: {
            model: { kind: text(), needed: true, help: 'of this model' },
            input: { kind: dollars, needed: true, help: 'dollars for a million tokens of prompts' },
            cached_input: { kind: dollars, default: 'as input', help: 'the same, for those found in a cache' },
            output: { kind: dollars, needed: true, help: 'the same, for tokens of answers' },
          },
        },
      },
    },
    record: { kind: text(), help: 'file for every request, without any text, to be replayed' },
    access_log: { kind: text(), help: "file for one line per request; '-' for stderr" },
    tracing: {
      help: 'spans over OTLP',
      kind: {
        type: 'keys',
        title: 'Tracing',
        keys: {
          endpoint: { kind: text(), needed: true, help: 'of a collector, as in http://127.0.0.1:4318' },
          sample: { kind: number(0, 1), default: '1', help: 'share of the traces begun here' },
        },
      },
    },
    seed: {
      kind: whole(0, Number.MAX_SAFE_INTEGER),
      default: String(GATEWAY_DEFAULTS.seed),
      help: 'start of all random streams',
    },
  },
};
