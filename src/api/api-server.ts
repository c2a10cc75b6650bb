import { join } from 'node:path';
import type { ControlHost } from '../control/control-plane.js';
import type { Gateway } from '../gateway/gateway.js';
import type { AdminApi } from '../gateway/server/admin-api.js';
import type { LabRunner } from '../twin/lab/lab-task.js';
import { LabUploads } from '../twin/lab/lab-uploads.js';
import { installShadows } from '../twin/shadow/install-shadows.js';
import { type Authenticated, Authenticator } from './access/authenticate.js';
import { type Caller, workspaceRoles, workspacesWith } from './access/caller.js';
import { RolesOf } from './access/roles-of.js';
import { whileAllowed } from './access/while-allowed.js';
import { ApiHost } from './api-host.js';
import { Unauthenticated } from './errors.js';
import { JobBoard } from './jobs/job-board.js';
import { credentialsOf } from './session/session-access.js';
import { ADMIN_OWNER, type HeldCredentials, loginHash, Sessions } from './session/sessions.js';

const ADMIN: Caller = { name: 'admin', role: 'admin', workspaces: new Map() };

/** The API with the links that log a browser in. */
export interface ServedApi extends AdminApi {
  /** A link to the console that logs in as the holder of the admin token: once, and only soon. */
  loginLink(): string;
}

/**
 * Serves the API and the console on the admin port of a gateway, and lets shadow policies follow its endpoints.
 * @param control the control plane of this process, once it is open; null where there is none
 * @param runLab runs experiments; absent: there are none
 */
export function serveApi(
  gateway: Gateway,
  control: Promise<{ readonly host: ControlHost }> | null = null,
  runLab?: LabRunner,
): ServedApi {
  const authenticator = new Authenticator(gateway);
  installShadows(gateway);
  const sessions = new Sessions(() => gateway.nowMs());
  const jobs = new JobBoard();
  const uploads = new LabUploads(join(gateway.config.dataDir, 'lab-uploads'));
  const lab = runLab === undefined ? {} : { lab: { uploads, run: runLab } };
  // Reported to the calls that need it.
  control?.catch(() => {});
  // Made with the first call: the store opens when the gateway starts.
  let made: ApiHost | null = null;
  const hostNow = () => {
    made ??= new ApiHost({ gateway, store: gateway.store, control, sessions, jobs, ...lab });
    return made;
  };
  gateway.former.listeners.push(async (workspace, untilMs) => {
    uploads.forget(workspace, untilMs);
    hostNow().advice.forget(workspace);
    hostNow().switches.forget(workspace, untilMs);
    await jobs.forget(workspace, untilMs);
  });
  const roles = new RolesOf(() => gateway.store!);
  return {
    async metricsFor(call) {
      const [{ errorResponse }, { authorise }] = await Promise.all([
        import('./error-response.js'),
        import('./access/authorise.js'),
      ]);
      try {
        const held = credentialsOf(sessions, { ...call, method: 'GET', path: '' }).now()!;
        const found = await authenticator.check({ address: call.address, header: headerOf(held) });
        const caller = await callerOf(roles, found);
        authorise(caller, { role: 'viewer', scope: 'anywhere' }, '');
        return { refusal: null, workspaces: workspacesWith(caller, 'viewer') };
      } catch (error) {
        return { refusal: errorResponse(error) };
      }
    },
    async handle(call) {
      if (!call.path.startsWith('/api/')) return (await import('./console/console-files.js')).consoleFile(call);
      // Loaded with the first call, to start faster.
      const [{ errorResponse }, { respond }] = await Promise.all([
        import('./error-response.js'),
        import('./respond.js'),
      ]);
      const api = hostNow();
      let caller: Caller;
      let held: HeldCredentials;
      let present: () => Promise<Caller>;
      try {
        const credentials = credentialsOf(sessions, call);
        held = credentials.now()!;
        // Kept for the time of a stream.
        present = async () => {
          const now = credentials.now();
          if (now === null) throw new Unauthenticated(401, 'the session has ended');
          return callerOf(roles, await authenticator.check({ address: call.address, header: headerOf(now) }));
        };
        caller = await present();
      } catch (error) {
        return errorResponse(error);
      }
      const own = headerOf(held);
      const header = (name: string) => (Object.hasOwn(CREDENTIALS, name) ? own(name) : call.header(name));
      const response = await respond(api, caller, { ...call, header });
      if (!('stream' in response)) return response;
      const now = () => present().catch((error) => (error instanceof Unauthenticated ? null : caller));
      return { ...response, stream: whileAllowed(response.stream, caller, now, () => gateway.nowMs()) };
    },
    async close() {
      await jobs.close();
    },
    loginLink() {
      const { token } = sessions.link(ADMIN_OWNER, {
        authorization: `Bearer ${gateway.adminToken}`,
        apiKey: undefined,
      });
      return `${gateway.adminUrl}/${loginHash(token)}`;
    },
  };
}

const CREDENTIALS = { authorization: '', 'x-api-key': '' };

const headerOf =
  ({ apiKey, authorization }: HeldCredentials) =>
  (name: string) =>
    name === 'authorization' ? authorization : name === 'x-api-key' ? apiKey : undefined;

/**
 * The holder of a key has its role in every workspace, and those that Role resources of its workspace give it; the subject
 * of a token those of its rule.
 */
async function callerOf(roles: RolesOf, found: Authenticated): Promise<Caller> {
  if (found === 'admin-token') return ADMIN;
  const { id, name, role, workspace, workspaceRole } = found;
  const caller = { name: `${workspace}/${name}`, role, keyId: id };
  if (role === 'admin') return { ...caller, workspaces: new Map() };
  if (workspaceRole !== undefined) return { ...caller, workspaces: new Map([[workspace, workspaceRole]]) };
  return { ...caller, workspaces: workspaceRoles(await roles.in(workspace), found) };
}
