import { isIP } from 'node:net';
import type { RayServeTarget } from './serve-target.js';

/** What `GET /api/serve/applications/` returns, as far as it is used. */
export interface ServeDetails {
  readonly controller_info?: object;
  readonly applications?: Readonly<Record<string, { readonly route_prefix?: string | null }>>;
  readonly target_groups?: readonly TargetGroup[];
}

interface TargetGroup {
  readonly app_name?: string;
  readonly protocol?: string;
  readonly ingress_deployment_name?: string;
  readonly targets?: readonly { readonly ip?: unknown; readonly port?: unknown; readonly name?: unknown }[];
}

/** A replica of Serve that takes requests itself. */
export interface ServeReplica {
  /** Application, deployment and the id that Serve gave it: `chat.LLMServer.x7k2p9qa`. */
  readonly id: string;
  readonly url: string;
}

export interface ServeView {
  /** Null: Serve does not say; those seen last may still be there. */
  readonly replicas: readonly ServeReplica[] | null;
  readonly problem: string | null;
}

/** While an application has no replicas, its targets are Serve's proxies, which have other names. */
const REPLICA_NAME = /^SERVE_REPLICA::(.+)$/;
const ROOT = '/';
const PROXIES_ONLY =
  'Ray Serve publishes its proxies and no replicas: start every node with RAY_SERVE_ENABLE_DIRECT_INGRESS=1 and without RAY_SERVE_ENABLE_HA_PROXY';

/** The replicas of an application that Serve publishes, ordered by id. */
export function foundServeReplicas(details: ServeDetails, { app }: Pick<RayServeTarget, 'app'>): ServeView {
  const { applications = {}, controller_info: controller = {}, target_groups: groups } = details;
  if (Object.keys(controller).length === 0) return { replicas: null, problem: 'Ray Serve does not run there' };
  const name = app ?? Object.keys(applications).find((one) => applications[one]!.route_prefix === ROOT);
  if (name === undefined || !Object.hasOwn(applications, name)) return missing(app, applications);
  const prefix = applications[name]!.route_prefix ?? null;
  if (prefix === null) {
    const problem = `application '${name}' has no route prefix: it is being deployed, or serves no HTTP`;
    return { replicas: null, problem };
  }
  if (prefix !== ROOT) {
    const problem = `application '${name}' has the route prefix '${prefix}': deploy it with '/', for /v1 paths`;
    return { replicas: [], problem };
  }
  const own = listOf(groups).filter(({ app_name, protocol }) => app_name === name && protocol === 'HTTP');
  if (own.length === 0) return { replicas: null, problem: listOf(groups).length === 0 ? null : PROXIES_ONLY };
  const found = new Map(own.flatMap(({ targets }) => listOf(targets).flatMap(replicasOf)).map((one) => [one.id, one]));
  // While new code of an application is built, Serve forgets its ingress and publishes proxies; its replicas run on.
  const isBuilt = own.some(({ ingress_deployment_name: ingress }) => ingress !== '');
  if (found.size === 0 && !isBuilt) return { replicas: null, problem: null };
  return { replicas: [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1)), problem: null };
}

const listOf = <T>(given: readonly T[] | undefined): readonly T[] => (Array.isArray(given) ? given : []);

function missing(app: string | null, applications: NonNullable<ServeDetails['applications']>): ServeView {
  if (app !== null) return { replicas: [], problem: `application '${app}' is not deployed` };
  const names = Object.keys(applications);
  const problem =
    names.length === 0 ? null : `no application has the route prefix '/': deployed are ${names.join(', ')}`;
  const isBuilding = Object.values(applications).some(({ route_prefix = null }) => route_prefix === null);
  return { replicas: isBuilding ? null : [], problem };
}

function replicasOf({ ip, name, port }: NonNullable<TargetGroup['targets']>[number]): ServeReplica[] {
  const [, full] = typeof name === 'string' ? (REPLICA_NAME.exec(name) ?? []) : [];
  const isAddress = typeof ip === 'string' && isIP(ip) !== 0;
  const isPort = Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536;
  if (full === undefined || !isAddress || !isPort) return [];
  const host = ip.includes(':') ? `[${ip}]` : ip;
  return [{ id: full.replaceAll('#', '.').replace(/[^\w.:-]/g, '-'), url: `http://${host}:${port as number}` }];
}
