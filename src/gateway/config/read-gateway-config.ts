import { dirname, resolve } from 'node:path';
import type { PolicyKeys } from '../../policy/bundle/policy-schema.js';
import type { Given } from '../../schema/fields.js';
import { readYaml } from '../../schema/read-yaml.js';
import type { YamlPlaces } from '../../schema/yaml-places.js';
import { tooManyReplicas } from '../errors.js';
import { MOST_REPLICAS } from '../fleet/deciding-fleet.js';
import { type AccessKeys, accessParts, type PriceKeys } from './access-config.js';
import { CONFIG_CODES, configInvalid, policyOf, type ReplicaKeys, replicaOf } from './config-parts.js';
import { GATEWAY_SCHEMA } from './config-schema.js';
import {
  DEFAULT_POLICY,
  type EndpointConfig,
  type GatewayConfig,
  type ListenConfig,
  type PolicyConfig,
  type ReplicaConfig,
} from './gateway-config.js';

type ConfigKeys = Given<typeof GATEWAY_SCHEMA>;
type ListenKeys = NonNullable<ConfigKeys['listen']>;

/**
 * Reads twinyard.yaml over what holds without it. The first thing wrong is an InputError with its line and column.
 * @param warn hears, in a line each, what has no effect
 */
export function readGatewayConfig(
  text: string,
  path: string,
  base: GatewayConfig,
  warn: (line: string) => void = () => {},
): GatewayConfig {
  const read = readYaml(text, path, GATEWAY_SCHEMA, CONFIG_CODES, 'start it with replicas, each with a url');
  return new ConfigReader(path, read.places, base, warn).config(read.given as ConfigKeys);
}

class ConfigReader {
  readonly #folder: string;
  readonly #places: YamlPlaces;
  readonly #base: GatewayConfig;
  readonly #warn: (line: string) => void;
  readonly #ids = new Set<string>();

  constructor(path: string, places: YamlPlaces, base: GatewayConfig, warn: (line: string) => void) {
    this.#folder = dirname(path);
    this.#places = places;
    this.#base = base;
    this.#warn = warn;
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
        headersMs: timeouts.headers_ms ?? base.timeouts.headersMs,
        bodyMs: timeouts.body_ms ?? base.timeouts.bodyMs,
      },
      limits: {
        bodyBytes: limits.body_bytes ?? base.limits.bodyBytes,
        headerBytes: limits.header_bytes ?? base.limits.headerBytes,
        decisions: limits.decisions ?? base.limits.decisions,
        connections: limits.connections ?? base.limits.connections,
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
      waitMs: health.wait_ms ?? base.waitMs,
      drainMs: keys.drain_ms ?? base.drainMs,
      decisionLog: keys.decision_log === undefined ? base.decisionLog : resolve(this.#folder, keys.decision_log),
      ...accessParts(keys, this.#folder, base, this.#places),
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
      throw configInvalid(place, `there are two endpoints '${name}'`, 'give each a name of its own');
    });
    for (const { name, replicas } of endpoints) {
      if (replicas.length > MOST_REPLICAS) throw tooManyReplicas(`endpoint '${name}'`, MOST_REPLICAS);
    }
    if (endpoints.length > 0) return endpoints;
    // Replicas may come from the command line.
    return this.#base.endpoints.map((endpoint) =>
      keys.policy === undefined ? endpoint : { ...endpoint, policy: shared },
    );
  }

  #policy(keys: PolicyKeys | undefined, path: string): PolicyConfig {
    const base = this.#base.endpoints[0]?.policy ?? DEFAULT_POLICY;
    return policyOf(keys ?? {}, base, (key) => this.#places.of(`${path}.${key}`), this.#warn);
  }

  #replica(keys: ReplicaKeys, path: string): ReplicaConfig {
    const place = this.#places.of(`${path}.url`);
    const replica = replicaOf(keys, place);
    if (this.#ids.has(replica.id)) {
      throw configInvalid(place, `there are two replicas '${replica.id}'`, 'give each an id of its own');
    }
    this.#ids.add(replica.id);
    return replica;
  }

  #listen(keys: ListenKeys | undefined, base: ListenConfig, path: string): ListenConfig {
    const { cert, host = base.host, key, port = base.port } = keys ?? {};
    if ((cert === undefined) !== (key === undefined)) {
      throw configInvalid(this.#places.of(path), 'has one of cert and key', 'give both, or neither');
    }
    const tls = cert === undefined ? base.tls : { cert: resolve(this.#folder, cert), key: resolve(this.#folder, key!) };
    return { host, port, tls };
  }
}
