import * as v from 'valibot';
import { packageVersion } from '../../files/package-path.js';
import { section } from '../../schema/fields.js';
import { KEY_ROLES } from '../../store/keys/key-record.js';
import type { ApiHost } from '../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../api-route.js';
import { CrossSite } from '../errors.js';
import { SESSION_PATH } from '../session/session-access.js';
import { cookieHeaders, isSameOrigin, sessionIdIn } from '../session/session-cookie.js';
import { ADMIN_OWNER, type HeldCredentials, loginHash, type Session } from '../session/sessions.js';
import { described, nullable, string } from '../views/parts.js';

const role = v.picklist(KEY_ROLES);

const SESSION = section('Session', {
  name: described(string, 'the caller, as the audit log names it'),
  role: described(role, 'its role in every workspace'),
  workspaces: described(v.record(v.string(), role), 'further roles by workspace'),
  csrf_token: described(nullable(string), 'to be sent as x-csrf-token with every change; null without a session'),
  expires_at: described(nullable(string), 'when the session ends at the latest; null without a session'),
  version: described(string, 'version of the program'),
  gateway_url: described(string, 'address for clients'),
  has_store: described(v.boolean(), 'whether the gateway has a store, and with it resources, keys, usage and events'),
  has_control: described(
    v.boolean(),
    'whether it has a control plane, which every resource but an API key needs to be changed',
  ),
});

const ENDED = section('EndedSession', { status: described(v.literal('logged out'), 'always logged out') });

const LOGIN_LINK = section('LoginLink', {
  path: described(
    string,
    "what follows the address of the admin port; opens the console with the caller's rights, once",
  ),
  expires_at: described(string, 'when it becomes void'),
});

const any = { role: 'none', scope: 'anywhere', path: SESSION_PATH } as const;

/** Sessions of browsers. The caller authenticates with its token or key once, and with a cookie from then on. */
export const SESSION_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    ...any,
    method: 'POST',
    summary: 'Log a browser in with the credentials of this call: sets a cookie that stands for them',
    response: { type: 'object', schema: SESSION },
    status: 201,
    handle: logIn,
  }),
  defineRoute({
    ...any,
    method: 'GET',
    summary: 'Return the caller, its roles and what its session needs for changes',
    response: { type: 'object', schema: SESSION },
    handle: (host, request) => ok(sessionView(host, request, presentSession(host, request))),
  }),
  defineRoute({
    ...any,
    method: 'DELETE',
    summary: 'Log out: ends the session and deletes its cookie',
    response: { type: 'object', schema: ENDED },
    handle(host, { header }) {
      const id = sessionIdIn(header);
      if (id !== null) host.sessions.close(id);
      return { status: 200, body: { status: 'logged out' }, headers: cookieHeaders(header, null, isTls(host)) };
    },
  }),
  defineRoute({
    ...any,
    method: 'POST',
    path: `${SESSION_PATH}/links`,
    summary: 'Create a link that logs a browser in as the caller: once, within 15 minutes',
    response: { type: 'object', schema: LOGIN_LINK },
    status: 201,
    handle(host, { caller, header }) {
      const { endsMs, token } = host.sessions.link(ownerOf(caller), credentialsIn(header));
      return { status: 201, body: { path: `/${loginHash(token)}`, expires_at: dateOf(host, endsMs) } };
    },
  }),
];

type Request = Pick<ApiRequest<object, undefined>, 'caller' | 'header'>;

const isTls = ({ gateway }: ApiHost) => gateway.config.admin.tls !== null;
const dateOf = ({ gateway }: ApiHost, ms: number) => new Date(gateway.epochUs / 1000 + ms).toISOString();
const ownerOf = ({ keyId }: Request['caller']) => keyId ?? ADMIN_OWNER;
const credentialsIn = (header: Request['header']): HeldCredentials => ({
  authorization: header('authorization'),
  apiKey: header('x-api-key'),
});

function presentSession({ sessions }: ApiHost, { header }: Request): Session | null {
  const id = sessionIdIn(header);
  return id === null ? null : sessions.find(id);
}

function logIn(host: ApiHost, request: Request) {
  const { header } = request;
  if (!isSameOrigin(header)) throw new CrossSite('the request comes from a page of another origin');
  const former = sessionIdIn(header);
  if (former !== null) host.sessions.close(former);
  const session = host.sessions.open(ownerOf(request.caller), credentialsIn(header));
  const headers = cookieHeaders(header, session.id, isTls(host));
  return { status: 201, body: sessionView(host, request, session), headers };
}

function sessionView(host: ApiHost, { caller }: Request, session: Session | null) {
  return {
    name: caller.name,
    role: caller.role,
    workspaces: Object.fromEntries(caller.workspaces),
    csrf_token: session?.csrfToken ?? null,
    expires_at: session === null ? null : dateOf(host, session.endsMs),
    version: packageVersion(),
    gateway_url: host.gateway.url,
    has_store: host.hasStore,
    has_control: host.hasControl,
  };
}
