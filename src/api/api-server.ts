import type { ControlHost } from '../control/control-plane.js';
import type { Gateway } from '../gateway/gateway.js';
import { type AdminApi, adminError } from '../gateway/server/admin-api.js';
import { type Authenticated, Authenticator } from './access/authenticate.js';
import { type Caller, workspaceRoles } from './access/caller.js';
import { whileAllowed } from './access/while-allowed.js';
import { ApiHost } from './api-host.js';
import { Unauthenticated } from './errors.js';

const ADMIN: Caller = { name: 'admin', role: 'admin', workspaces: new Map() };

/**
 * Serves the API on the admin port of a gateway.
 * @param control the control plane of this process, once it is open; null where there is none
 */
export function serveApi(gateway: Gateway, control: Promise<{ readonly host: ControlHost }> | null = null): AdminApi {
  const authenticator = new Authenticator(gateway);
  // Reported to the calls that need it.
  control?.catch(() => {});
  // Made with the first call: the store opens when the gateway starts.
  let host: ApiHost | null = null;
  return {
    async refusal(call) {
      host ??= new ApiHost({ gateway, store: gateway.store, control });
      const [{ errorResponse }, { authorise }] = await Promise.all([
        import('./error-response.js'),
        import('./access/authorise.js'),
      ]);
      try {
        authorise(await callerOf(host, await authenticator.check(call)), { role: 'viewer', scope: 'global' }, '');
        return null;
      } catch (error) {
        return errorResponse(error);
      }
    },
    async handle(call) {
      if (!call.path.startsWith('/api/')) return adminError(404, 'API_PATH_UNKNOWN', `${call.path}: no such path`);
      host ??= new ApiHost({ gateway, store: gateway.store, control });
      // Loaded with the first call, to start faster.
      const [{ errorResponse }, { respond }] = await Promise.all([
        import('./error-response.js'),
        import('./respond.js'),
      ]);
      // Kept for the time of a stream.
      const [authorization, apiKey] = [call.header('authorization'), call.header('x-api-key')];
      const header = (name: string) =>
        name === 'authorization' ? authorization : name === 'x-api-key' ? apiKey : undefined;
      const credentials = { address: call.address, header };
      const api = host;
      const present = async () => callerOf(api, await authenticator.check(credentials));
      let caller: Caller;
      try {
        caller = await present();
      } catch (error) {
        return errorResponse(error);
      }
      const response = await respond(api, caller, call);
      if (!('stream' in response)) return response;
      const now = () => present().catch((error) => (error instanceof Unauthenticated ? null : caller));
      return { ...response, stream: whileAllowed(response.stream, caller, now, () => gateway.nowMs()) };
    },
  };
}

/**
 * The holder of a key has its role in every workspace, and those that Role resources of its workspace give it; the subject
 * of a token those of its rule.
 */
async function callerOf(host: ApiHost, found: Authenticated): Promise<Caller> {
  if (found === 'admin-token') return ADMIN;
  const { name, role, workspace, workspaceRole } = found;
  const caller = { name: `${workspace}/${name}`, role };
  if (role === 'admin') return { ...caller, workspaces: new Map() };
  if (workspaceRole !== undefined) return { ...caller, workspaces: new Map([[workspace, workspaceRole]]) };
  const roles = await host.store.resources.list({ kind: 'Role', workspace });
  return { ...caller, workspaces: workspaceRoles(roles, found) };
}
