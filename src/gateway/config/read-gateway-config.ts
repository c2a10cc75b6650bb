import { dirname, resolve } from 'node:path';
import { DEFAULT_ENGINE } from '../../engines/engine.js';
import { type KubeTarget, targetProblem } from '../../kube/discovery/kube-target.js';
import { readLeaseTarget } from '../../kube/election/lease-name.js';
import type { PolicyKeys } from '../../policy/bundle/policy-schema.js';
import { type RayServeTarget, serveTargetProblem } from '../../ray/serve/serve-target.js';
import type { Given } from '../../schema/fields.js';
import { readYaml } from '../../schema/read-yaml.js';
import type { YamlPlaces } from '../../schema/yaml-places.js';
import { tooManyReplicas } from '../errors.js';
import { accessParts } from './access-config.js';
import { CONFIG_CODES, configInvalid, hardwareOf, policyOf, type ReplicaKeys, replicaOf } from './config-parts.js';
import { GATEWAY_SCHEMA, type KUBE_SCHEMA, type RAY_SERVE_SCHEMA } from './config-schema.js';
import {
  type ConfigValues,
  DEFAULT_POLICY,
  type EndpointConfig,
  GATEWAY_DEFAULTS,
  type GatewayConfig,
  type KubeSource,
  type ListenConfig,
  type PolicyConfig,
  type RayServeSource,
  type ReplicaConfig,
  settingsOf,
} from './gateway-config.js';
import { MOST_REPLICAS } from './most-replicas.js';
import { proxyList } from './proxy-list.js';

type ConfigKeys = Given<typeof GATEWAY_SCHEMA>;
type KubeKeys = Given<typeof KUBE_SCHEMA>;
type RayServeKeys = Given<typeof RAY_SERVE_SCHEMA>;

/** Where replicas of an endpoint come from. */
interface SourceKeys {
  readonly replicas?: readonly ReplicaKeys[] | undefined;
  readonly kube?: KubeKeys | undefined;
  readonly ray_serve?: RayServeKeys | undefined;
}

const hasReplicas = ({ kube, ray_serve, replicas }: SourceKeys) =>
  replicas !== undefined || kube !== undefined || ray_serve !== undefined;

/**
 * Reads twinyard.yaml. The first thing wrong is an InputError with its line and column.
 * @param warn receives a line for each key that has no effect
 */
export function readGatewayConfig(text: string, path: string, warn: (line: string) => void = () => {}): GatewayConfig {
  const start = 'start it with replicas, each with a url';
  const { given, places, value } = readYaml(text, path, GATEWAY_SCHEMA, CONFIG_CODES, start);
  return new ConfigReader(path, places, warn).config(given as ConfigKeys, value);
}

class ConfigReader {
  readonly #folder: string;
  readonly #places: YamlPlaces;
  readonly #warn: (line: string) => void;
  readonly #ids = new Set<string>();

  constructor(path: string, places: YamlPlaces, warn: (line: string) => void) {
    this.#folder = dirname(path);
    this.#places = places;
    this.#warn = warn;
  }

  /** @param given as written: a policy takes its defaults from itself, not from the file */
  config(given: ConfigKeys, values: ConfigValues): GatewayConfig {
    const { decision_log } = values;
    this.#checkProxies(values.http.trusted_proxies);
    return {
      ...settingsOf(values),
      ...accessParts(values, this.#folder, this.#places),
      listen: this.#listen(values.listen, GATEWAY_DEFAULTS.listen, 'listen'),
      admin: this.#listen(values.admin, GATEWAY_DEFAULTS.admin, 'admin'),
      replicaTls: this.#replicaTls(values.replica_tls),
      leaderLease: this.#leaderLease(values.leader_lease),
      endpoints: this.#endpoints(given),
      decisionLog: decision_log === undefined ? null : resolve(this.#folder, decision_log),
    };
  }

  #checkProxies(proxies: readonly string[]): void {
    for (const [i, proxy] of proxies.entries()) {
      try {
        proxyList([proxy]);
      } catch {
        const place = this.#places.of(`http.trusted_proxies[${i}]`);
        throw configInvalid(place, `'${proxy}' is not an address or network`, 'give one such as 10.0.0.0/8');
      }
    }
  }

  #endpoints(keys: ConfigKeys): EndpointConfig[] {
    const shared = this.#policy(keys.policy, 'policy');
    const endpoints = (keys.endpoints ?? []).map((endpoint, i): EndpointConfig => {
      const path = `endpoints[${i}]`;
      // 'a/b' is the endpoint b of the workspace a.
      if (endpoint.name.includes('/')) {
        throw configInvalid(this.#places.of(`${path}.name`), "has a '/'", 'endpoints of a file have no workspace');
      }
      const policy = endpoint.policy === undefined ? shared : this.#policy(endpoint.policy, `${path}.policy`);
      if (!hasReplicas(endpoint)) {
        const hint = 'list replicas, or say where they are with kube or ray_serve';
        throw configInvalid(this.#places.of(path), 'has no replicas', hint);
      }
      return { name: endpoint.name, policy, ...this.#replicasOf(endpoint, `${path}.`) };
    });
    const isDefault = hasReplicas(keys);
    if (isDefault) endpoints.unshift({ name: 'default', policy: shared, ...this.#replicasOf(keys, '') });
    endpoints.forEach(({ name }, i) => {
      if (endpoints.findIndex((other) => other.name === name) === i) return;
      const place = this.#places.of(`endpoints[${isDefault ? i - 1 : i}].name`);
      throw configInvalid(place, `there are two endpoints '${name}'`, 'give each a name of its own');
    });
    for (const { name, replicas } of endpoints) {
      if (replicas.length > MOST_REPLICAS) throw tooManyReplicas(`endpoint '${name}'`, MOST_REPLICAS);
    }
    return endpoints;
  }

  #replicasOf({ kube, ray_serve, replicas: listed = [] }: SourceKeys, path: string) {
    const replicas = listed.map((replica, i) => this.#replica(replica, `${path}replicas[${i}]`));
    if (kube !== undefined && ray_serve !== undefined) {
      const hint = 'give each an endpoint of its own';
      throw configInvalid(this.#places.of(`${path}ray_serve`), 'is given beside kube', hint);
    }
    return {
      replicas,
      ...(kube === undefined ? {} : { kube: this.#kube(kube, `${path}kube`) }),
      ...(ray_serve === undefined ? {} : { rayServe: this.#rayServe(ray_serve, `${path}ray_serve`) }),
    };
  }

  #rayServe(keys: RayServeKeys, path: string): RayServeSource {
    const target: RayServeTarget = {
      url: keys.url.replace(/\/+$/, ''),
      app: keys.app ?? null,
      tokenFile: this.#path(keys.token_file),
      caFile: this.#path(keys.ca_file),
    };
    const problem = serveTargetProblem(target);
    if (problem !== null) throw configInvalid(this.#places.of(path), problem, 'see docs/ray-serve.md');
    return { target, engine: keys.engine ?? DEFAULT_ENGINE, ...hardwareOf(keys) };
  }

  #kube(keys: KubeKeys, path: string): KubeSource {
    const named = (['selector', 'service', 'pool'] as const).filter((by) => keys[by] !== undefined);
    const [by] = named;
    if (by === undefined || named.length > 1) {
      const problem = by === undefined ? 'does not say what to look for' : `has both ${named.join(' and ')}`;
      throw configInvalid(this.#places.of(path), problem, 'give one of selector, service and pool');
    }
    const target: KubeTarget = {
      by,
      value: keys[by]!,
      namespace: keys.namespace ?? null,
      ports: keys.ports ?? [],
      kubeconfig: this.#path(keys.kubeconfig),
      context: keys.context ?? null,
    };
    const problem = targetProblem(target);
    if (problem !== null) throw configInvalid(this.#places.of(path), problem, 'see docs/kubernetes.md');
    return { target, engine: keys.engine ?? DEFAULT_ENGINE, ...hardwareOf(keys) };
  }

  #leaderLease(given: string | undefined): GatewayConfig['leaderLease'] {
    if (given === undefined) return null;
    const target = readLeaseTarget(given, this.#places.of('leader_lease'));
    return { ...target, kubeconfig: this.#path(target.kubeconfig ?? undefined) };
  }

  #policy(keys: PolicyKeys | undefined, path: string): PolicyConfig {
    return policyOf(keys ?? {}, DEFAULT_POLICY, (key) => this.#places.of(`${path}.${key}`), this.#warn);
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

  #replicaTls(keys: ConfigValues['replica_tls']): GatewayConfig['replicaTls'] {
    if (keys === undefined) return null;
    const pair = this.#pair(keys.cert, keys.key, 'replica_tls');
    return { ca: this.#path(keys.ca), cert: pair?.cert ?? null, key: pair?.key ?? null };
  }

  #pair(cert: string | undefined, key: string | undefined, path: string): { cert: string; key: string } | null {
    if ((cert === undefined) !== (key === undefined)) {
      throw configInvalid(this.#places.of(path), 'has one of cert and key', 'give both, or neither');
    }
    return cert === undefined ? null : { cert: resolve(this.#folder, cert), key: resolve(this.#folder, key!) };
  }

  #path(file: string | undefined): string | null {
    return file === undefined ? null : resolve(this.#folder, file);
  }

  #listen(keys: ConfigValues['listen'], base: ListenConfig, path: 'listen' | 'admin'): ListenConfig {
    const { cert, client_ca, host = base.host, key, port = base.port } = keys ?? {};
    const pair = this.#pair(cert, key, path);
    if (pair === null && client_ca !== undefined) {
      throw configInvalid(this.#places.of(`${path}.client_ca`), 'is given without TLS', 'give cert and key as well');
    }
    const clientCa = this.#path(client_ca);
    const tls = pair === null ? null : { ...pair, ...(clientCa === null ? {} : { clientCa }) };
    return { host, port, tls };
  }
}
