import type { AdminCaller, AdminExtension } from '../gateway/server/admin-extension.js';
import { type Caller, workspaceRoles } from './api/caller.js';
import { type ControlHost, failed } from './api/control-route.js';
import { isControlPath, respondControl } from './api/routes.js';
import type { ControlStore } from './store/control-store.js';

/**
 * The control API as a part of a gateway's admin port. Who asks before the control plane is there waits for it; who asks when it
 * has not come, or is no more, is told why.
 */
export function adminExtension(opened: Promise<{ readonly host: ControlHost }>): AdminExtension {
  // Who asks is told.
  opened.catch(() => {});
  return {
    handles: isControlPath,
    async handle(asked) {
      let host: ControlHost;
      try {
        ({ host } = await opened);
      } catch (error) {
        return failed(503, 'CONTROL_NOT_OPEN', `there is no control plane here: ${(error as Error).message}`);
      }
      const { caller, method, path, query, signal } = asked;
      const ifMatch = asked.header('if-match');
      const call = { method, path, query, signal, body: () => asked.body() };
      const who = await callerOf(host.store, caller);
      return respondControl(host, who, ifMatch === undefined ? call : { ...call, ifMatch });
    },
  };
}

/** Whoever holds the text of an ApiKey also has what the Roles of its workspace give him. */
async function callerOf({ resources }: ControlStore, { keyId, name, role }: AdminCaller): Promise<Caller> {
  if (keyId === null || role === 'admin') return { name, role, workspaces: new Map() };
  const keys = await resources.list({ kind: 'ApiKey' });
  const key = keys.find(({ deletedAt, status }) => deletedAt === null && status?.key_id === keyId);
  const roles = key === undefined ? [] : await resources.list({ kind: 'Role', workspace: key.workspace });
  return { name, role, workspaces: key === undefined ? new Map() : workspaceRoles(roles, key) };
}
