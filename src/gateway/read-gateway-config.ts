import { dirname, resolve } from 'node:path';
import { InputError } from '../kernel/errors.js';
import { knownNames } from '../kernel/nearest-name.js';
import type { YamlErrors } from '../kernel/yaml/read-schema.js';
import { readStrictYaml } from '../kernel/yaml/strict-yaml.js';
import type { YamlPlaces } from '../kernel/yaml/yaml-places.js';
import { policyOptions } from '../policy/policy-options.js';
import { routingPolicy } from '../policy/registry.js';
import { GATEWAY_SCHEMA } from './config-schema.js';
import type { EndpointConfig, GatewayConfig, ListenConfig, PolicyConfig, ReplicaConfig } from './gateway-config.js';

const invalid = (place: string, problem: string, remedy: string) =>
  new InputError('GATEWAY_CONFIG_INVALID', place, problem, remedy);

const ERRORS: YamlErrors = {
  invalid,
  unknownKey: (place, key, known) =>
    new InputError('GATEWAY_CONFIG_UNKNOWN_KEY', place, `unknown key '${key}'`, knownNames(key, known)),
};

interface ReplicaKeys {
  url: string;
  id?: string;
  engine?: string;
  model?: string;
}
interface PolicyKeys {
  routing?: { policy?: string; options?: Record<string, unknown>; block_size?: number; cache_blocks?: number };
}
interface ListenKeys {
  host?: string;
  port?: number;
  cert?: string;
  key?: string;
}
type Numbers = Record<string, number>;
interface ConfigKeys {
  listen?: ListenKeys;
  admin?: ListenKeys;
  replicas?: ReplicaKeys[];
  policy?: PolicyKeys;
  endpoints?: { name: string; replicas: ReplicaKeys[]; policy?: PolicyKeys }[];
  limits?: Numbers;
  timeouts?: Numbers;
  health?: Numbers;
  retries?: Numbers;
  drain_ms?: number;
  decision_log?: string;
  seed?: number;
}

/** Reads twinyard.yaml over what holds without it. The first thing wrong is an InputError with its line and column. */
export function readGatewayConfig(text: string, path: string, base: GatewayConfig): GatewayConfig {
  const read = readStrictYaml(text, path, GATEWAY_SCHEMA, ERRORS, 'start it with replicas, each with a url');
  return new ConfigReader(path, read.places, base).config(read.value as ConfigKeys);
}

class ConfigReader {
  readonly #folder: string;
  readonly #places: YamlPlaces;
  readonly #base: GatewayConfig;
  readonly #ids = new Set<string>();

  constructor(path: string, places: YamlPlaces, base: GatewayConfig) {
    this.#folder = dirname(path);
    this.#places = places;
    this.#base = base;
  }

  config(keys: ConfigKeys): GatewayConfig {
    const base = this.#base;
    const { health = {}, limits = {}, retries = {}, timeouts = {} } = keys;
    return {
      listen: this.#listen(keys.listen, base.listen, 'listen'),
      admin: this.#listen(keys.admin, base.admin, 'admin'),
      endpoints: this.#endpoints(keys),
      timeouts: {
        connectMs: timeouts.connect_ms ?? base.timeouts.connectMs,
        firstByteMs: timeouts.first_byte_ms ?? base.timeouts.firstByteMs,
        idleMs: timeouts.idle_ms ?? base.timeouts.idleMs,
        totalMs: timeouts.total_ms ?? base.timeouts.totalMs,
      },
      limits: {
        bodyBytes: limits.body_bytes ?? base.limits.bodyBytes,
        headerBytes: limits.header_bytes ?? base.limits.headerBytes,
        decisions: limits.decisions ?? base.limits.decisions,
      },
      health: {
        intervalMs: health.interval_ms ?? base.health.intervalMs,
        timeoutMs: health.timeout_ms ?? base.health.timeoutMs,
        failures: health.failures ?? base.health.failures,
      },
      breaker: {
        failures: health.breaker_failures ?? base.breaker.failures,
        openMs: health.breaker_ms ?? base.breaker.openMs,
      },
      retries: {
        most: retries.most ?? base.retries.most,
        backoffMs: retries.backoff_ms ?? base.retries.backoffMs,
        budget: retries.budget ?? base.retries.budget,
      },
      signals: {
        intervalMs: health.signals_ms ?? base.signals.intervalMs,
        staleMs: health.stale_ms ?? base.signals.staleMs,
      },
      slowStartMs: health.slow_start_ms ?? base.slowStartMs,
      drainMs: keys.drain_ms ?? base.drainMs,
      decisionLog: keys.decision_log === undefined ? base.decisionLog : resolve(this.#folder, keys.decision_log),
      seed: keys.seed ?? base.seed,
    };
  }

  #endpoints(keys: ConfigKeys): EndpointConfig[] {
    const shared = this.#policy(keys.policy, 'policy');
    const endpoints = (keys.endpoints ?? []).map((endpoint, i) => ({
      name: endpoint.name,
      policy: endpoint.policy === undefined ? shared : this.#policy(endpoint.policy, `endpoints[${i}].policy`),
      replicas: endpoint.replicas.map((replica, r) => this.#replica(replica, `endpoints[${i}].replicas[${r}]`)),
    }));
    if (keys.replicas !== undefined) {
      const replicas = keys.replicas.map((replica, i) => this.#replica(replica, `replicas[${i}]`));
      endpoints.unshift({ name: 'default', policy: shared, replicas });
    }
    endpoints.forEach(({ name }, i) => {
      if (endpoints.findIndex((other) => other.name === name) === i) return;
      const place = this.#places.of(`endpoints[${keys.replicas === undefined ? i : i - 1}].name`);
      throw invalid(place, `there are two endpoints '${name}'`, 'give each a name of its own');
    });
    if (endpoints.length > 0) return endpoints;
    // Replicas may come from the command line.
    return this.#base.endpoints.map((endpoint) =>
      keys.policy === undefined ? endpoint : { ...endpoint, policy: shared },
    );
  }

  #policy(keys: PolicyKeys | undefined, path: string): PolicyConfig {
    const base = this.#base.endpoints[0]?.policy;
    const routing = keys?.routing ?? {};
    const place = this.#places.of(`${path}.routing.policy`);
    const policy = {
      name: routing.policy ?? base?.name ?? 'weighted',
      options: routing.options ?? base?.options ?? {},
      blockSize: routing.block_size ?? base?.blockSize ?? 16,
      cacheBlocks: routing.cache_blocks ?? base?.cacheBlocks ?? 10_000,
    };
    policyOptions(routingPolicy(policy.name, place), policy.options, this.#places.of(`${path}.routing.options`));
    return policy;
  }

  #replica({ url, id, engine = 'vllm', model }: ReplicaKeys, path: string): ReplicaConfig {
    const place = this.#places.of(`${path}.url`);
    if (!URL.canParse(url)) throw invalid(place, `'${url}' is not a URL`, 'give one such as http://127.0.0.1:9001');
    const { host, origin, pathname, protocol } = new URL(url);
    if (!['http:', 'https:'].includes(protocol) || pathname !== '/') {
      throw invalid(place, `'${url}' is more or less than an address`, 'give scheme, host and port alone');
    }
    const name = id ?? host;
    if (this.#ids.has(name)) throw invalid(place, `there are two replicas '${name}'`, 'give each an id of its own');
    this.#ids.add(name);
    return { id: name, url: origin, engine, models: model === undefined ? null : [model] };
  }

  #listen(keys: ListenKeys | undefined, base: ListenConfig, path: string): ListenConfig {
    const { cert, host = base.host, key, port = base.port } = keys ?? {};
    if ((cert === undefined) !== (key === undefined)) {
      throw invalid(this.#places.of(path), 'has one of cert and key', 'give both, or neither');
    }
    const tls = cert === undefined ? base.tls : { cert: resolve(this.#folder, cert), key: resolve(this.#folder, key!) };
    return { host, port, tls };
  }
}
