import { InputError } from '../../kernel/errors.js';
import { ApiError } from '../../protocol/errors.js';
import { isStoreFailure } from '../../store/database/errors.js';
import type { KeyRole } from '../../store/keys/key-record.js';
import type { AdminCaller } from './admin-extension.js';
import {
  addReplica,
  listDecisions,
  listEndpoints,
  listPolicies,
  listReplicas,
  reload,
  removeReplica,
  rollBackPolicy,
  setPolicy,
  showConfig,
  showDecision,
} from './admin-fleet.js';
import type { AdminHost } from './admin-host.js';
import { changeKey, createKey, listKeys, noKey, revokeKey, rotateKey, showKey, showLimits } from './admin-keys.js';
import { isEnough } from './admin-role.js';
import { type AdminRequest, type AdminResponse, type AdminRoute, failed, nameIn } from './admin-route.js';
import { showUsage } from './admin-usage.js';

/** The whole admin API: what can be asked, and the least that whoever asks must be. */
export const ADMIN_ROUTES: readonly AdminRoute[] = [
  { method: 'GET', path: '/api/decisions', role: 'viewer', handle: listDecisions },
  { method: 'GET', path: '/api/decisions/{id}', role: 'viewer', handle: showDecision },
  { method: 'GET', path: '/api/replicas', role: 'viewer', handle: listReplicas },
  { method: 'POST', path: '/api/replicas', role: 'operator', handle: addReplica },
  { method: 'DELETE', path: '/api/replicas/{id}', role: 'operator', handle: removeReplica },
  { method: 'GET', path: '/api/endpoints', role: 'viewer', handle: listEndpoints },
  { method: 'PUT', path: '/api/endpoints/{name}/policy', role: 'operator', handle: setPolicy },
  { method: 'POST', path: '/api/endpoints/{name}/policy/rollback', role: 'operator', handle: rollBackPolicy },
  { method: 'GET', path: '/api/endpoints/{name}/policy/history', role: 'viewer', handle: listPolicies },
  { method: 'GET', path: '/api/config', role: 'viewer', handle: showConfig },
  { method: 'POST', path: '/api/reload', role: 'operator', handle: reload },
  { method: 'GET', path: '/api/keys', role: 'viewer', handle: listKeys },
  { method: 'POST', path: '/api/keys', role: 'admin', handle: createKey },
  { method: 'GET', path: '/api/keys/{id}', role: 'viewer', handle: showKey },
  { method: 'PATCH', path: '/api/keys/{id}', role: 'admin', handle: changeKey },
  { method: 'DELETE', path: '/api/keys/{id}', role: 'admin', handle: revokeKey },
  { method: 'POST', path: '/api/keys/{id}/rotate', role: 'admin', handle: rotateKey },
  { method: 'GET', path: '/api/limits/{id}', role: 'viewer', handle: showLimits },
  { method: 'GET', path: '/api/usage', role: 'viewer', handle: showUsage },
];

export interface AsSent extends Pick<AdminRequest, 'query' | 'accept'> {
  /** Read when it is clear that whoever sends it may; an ApiError when it is too large. */
  body: () => Promise<string>;
}

/**
 * What somebody gets. Throws only what is a bug.
 * @param caller whoever asks
 */
export async function respondAdmin(
  host: AdminHost,
  { name: by, role }: Pick<AdminCaller, 'name' | 'role'>,
  method: string,
  path: string,
  { accept, body, query }: AsSent,
): Promise<AdminResponse> {
  const route = findRoute(method, path);
  if (!('handle' in route)) return isEnough(role, 'viewer') ? route : tooSmall(role, 'viewer');
  if (!isEnough(role, route.role)) return tooSmall(role, route.role);
  const name = decoded(nameIn(path, route)!);
  if (name === null) return failed(400, `${path} is not well encoded`);
  try {
    return await route.handle(host, { by, name, query, accept, body: await body() });
  } catch (error) {
    return refusalFor(error);
  }
}

function findRoute(method: string, path: string): AdminRoute | AdminResponse {
  const routes = ADMIN_ROUTES.filter((one) => nameIn(path, one) !== null);
  if (routes.length === 0) return failed(404, `there is no ${path} here`);
  const wanted = method === 'HEAD' ? 'GET' : method;
  const route = routes.find((one) => one.method === wanted);
  if (route !== undefined) return route;
  const allow = routes.map((one) => one.method).join(', ');
  return failed(405, `${path} does not take ${method}: use ${allow}`, ['allow', allow]);
}

function tooSmall(role: KeyRole, wanted: KeyRole): AdminResponse {
  return failed(403, `this takes the role ${wanted}, and the key has the role ${role}`);
}

/** What was asked wrongly is told; a store that cannot be asked is not the asker's fault. */
function refusalFor(error: unknown): AdminResponse {
  if (isStoreFailure(error)) return failed(503, (error as Error).message, ['retry-after', '1']);
  if (error instanceof ApiError) return failed(error.status, error.message);
  if (!(error instanceof InputError)) throw error;
  if (error.code === 'KEY_UNKNOWN') return noKey();
  return failed(error.code === 'KEY_REVOKED' ? 409 : 400, error.message);
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
