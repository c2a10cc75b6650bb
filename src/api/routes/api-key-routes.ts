import { apiKey } from '../../control/resources/kinds/api-key.js';
import { resourceView } from '../../control/store/resource-view.js';
import { field, section, whole } from '../../schema/fields.js';
import { API_KEY } from '../../store/keys/key-record.js';
import { unknownResource } from '../../store/resources/resource-errors.js';
import type { ResourceRef } from '../../store/resources/resource-record.js';
import { authoriseChange, authoriseRemoval } from '../access/authorise.js';
import type { ApiHost } from '../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../api-route.js';
import { noOwnKey, unlimitedKeys } from '../errors.js';
import { KEY_LIMITS } from '../views/gateway-views.js';
import { ISSUED_KEY } from '../views/resource-views.js';

const ONE = '/api/v1/workspaces/{workspace}/apikeys/{name}';
const changes = { method: 'POST', role: 'admin', scope: 'workspace', kind: apiKey } as const;
const LONGEST_GRACE_S = 365 * 86_400;

const ISSUE = section('Issue', {
  grace_s: field(whole(0, LONGEST_GRACE_S), {
    default: 0,
    help: 'seconds for which the present secret is still accepted',
  }),
});

/** Operations of ApiKey resources that other kinds do not have. */
export const API_KEY_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    ...changes,
    path: `${ONE}/issue`,
    summary: 'Issue a new secret for an ApiKey and return it, this once',
    body: { type: 'json', schema: ISSUE, example: { grace_s: 3600 }, optional: true },
    response: { type: 'object', schema: ISSUED_KEY },
    handle: issue,
  }),
  defineRoute({
    ...changes,
    path: `${ONE}/revoke`,
    summary: 'Revoke an ApiKey for good; it stays listed, and its usage keeps its name',
    response: { type: 'resource' },
    handle: revoke,
  }),
  defineRoute({
    method: 'GET',
    path: `${ONE}/limits`,
    role: 'viewer',
    scope: 'workspace',
    kind: apiKey,
    summary: 'Return what is left of each limit of an ApiKey',
    response: { type: 'object', schema: KEY_LIMITS },
    async handle(host, { params }) {
      const { access } = host.gateway;
      const { uid } = await existing(host, refIn(params));
      if (access === null) throw unlimitedKeys();
      return ok((await access.limitsOf(uid)) ?? { id: uid, at: new Date().toISOString(), limits: {} });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/limits/own',
    role: 'none',
    scope: 'anywhere',
    summary: "Return what is left of each limit of the caller's own API key",
    response: { type: 'object', schema: KEY_LIMITS },
    async handle({ gateway: { access } }, { caller: { keyId } }) {
      if (keyId === undefined) throw noOwnKey();
      if (access === null) throw unlimitedKeys();
      return ok((await access.limitsOf(keyId)) ?? { id: keyId, at: new Date().toISOString(), limits: {} });
    },
  }),
];

const refIn = ({ name, workspace }: ApiRequest['params']): ResourceRef => ({
  kind: API_KEY,
  workspace: workspace!,
  name: name!,
});

async function existing({ store }: ApiHost, ref: ResourceRef) {
  const record = await store.resources.get(ref);
  if (record === null) throw unknownResource(ref);
  return record;
}

async function issue(host: ApiHost, { body, caller, params }: ApiRequest<object, { grace_s: number }>) {
  const { store } = host;
  const ref = refIn(params);
  const before = await existing(host, ref);
  await authoriseChange(caller, await host.resources(), resourceView(before));
  const until = body.grace_s === 0 ? null : (await store.now()) + 1000 * body.grace_s;
  const { record, secret } = await store.keys.issue(ref, until, caller.name);
  await store.events.add(record, 'normal', 'Issued', 'a new secret was issued');
  const { previous_until } = resourceView(record).status as { previous_until?: string };
  return ok({ kind: 'IssuedKey', key_id: record.uid, key: secret, previous_until: previous_until ?? null });
}

async function revoke(host: ApiHost, { caller, params }: ApiRequest<object, undefined>) {
  const { store } = host;
  const ref = refIn(params);
  await authoriseRemoval(caller, await host.resources(), resourceView(await existing(host, ref)));
  const record = await store.keys.revoke(ref, caller.name);
  await store.events.add(record, 'normal', 'Revoked', 'the key was revoked');
  return ok(resourceView(record));
}
