import { apiKey } from '../../control/resources/kinds/api-key.js';
import { issueKey } from '../../control/store/api-keys.js';
import { knownClasses } from '../../gateway/access/known-classes.js';
import { unknownKey } from '../../store/keys/errors.js';
import { keyView } from '../../store/keys/key-view.js';
import type { IssuedKey } from '../../store/keys/keys.js';
import { unknownResource } from '../../store/resources/resource-errors.js';
import { authoriseChange } from '../access/authorise.js';
import type { ApiHost } from '../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../api-route.js';
import { unlimitedKeys } from '../errors.js';
import { readKeyChanges, readNewKeyBody, readRotation } from '../read-key-body.js';
import { ISSUED_KEY, KEY_LIMITS, USAGE } from '../views.js';

const one = { scope: 'global', response: { type: 'object', schema: USAGE } } as const;

/** Operations of ApiKey resources that other kinds do not have. */
export const API_KEY_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'POST',
    path: '/api/v1/workspaces/{workspace}/apikeys/{name}/issue',
    role: 'admin',
    scope: 'workspace',
    kind: apiKey,
    summary: 'Issue a new secret for an ApiKey and return it once; the one before is no longer accepted',
    response: { type: 'object', schema: ISSUED_KEY },
    handle: issue,
  }),
  defineRoute({
    ...one,
    method: 'GET',
    path: '/api/v1/keys',
    role: 'viewer',
    summary: 'List keys',
    async handle({ store }) {
      const now = await store.now();
      return ok((await store.keys.list()).map((key) => keyView(key, now)));
    },
  }),
  defineRoute({
    ...one,
    method: 'GET',
    path: '/api/v1/keys/{id}',
    role: 'viewer',
    summary: 'Return a key',
    async handle({ store }, { params }) {
      const key = await store.keys.get(params.id!);
      if (key === null) throw unknownKey(params.id!);
      return ok(keyView(key, await store.now()));
    },
  }),
  defineRoute({
    ...one,
    method: 'POST',
    path: '/api/v1/keys',
    role: 'admin',
    summary: 'Create a key',
    body: { type: 'status' },
    async handle(host, { body, caller }) {
      const { store } = host;
      const classes = await classesOf(host);
      const issued = await store.keys.create(readNewKeyBody(body, await store.now(), classes), caller.name);
      return { status: 201, body: issuedView(issued, await store.now()) };
    },
  }),
  defineRoute({
    ...one,
    method: 'PATCH',
    path: '/api/v1/keys/{id}',
    role: 'admin',
    summary: 'Change a key',
    body: { type: 'status' },
    async handle(host, { body, caller, params }) {
      const { store } = host;
      const changes = readKeyChanges(body, await store.now(), await classesOf(host));
      const key = await store.keys.update(params.id!, changes, caller.name);
      return ok(keyView(key, await store.now()));
    },
  }),
  defineRoute({
    ...one,
    method: 'DELETE',
    path: '/api/v1/keys/{id}',
    role: 'admin',
    summary: 'Revoke a key',
    async handle({ store }, { caller, params }) {
      const key = await store.keys.revoke(params.id!, caller.name);
      return ok(keyView(key, await store.now()));
    },
  }),
  defineRoute({
    ...one,
    method: 'POST',
    path: '/api/v1/keys/{id}/rotate',
    role: 'admin',
    summary: 'Rotate a key',
    body: { type: 'status' },
    async handle({ store }, { body, caller, params }) {
      const { graceS } = readRotation(body);
      const now = await store.now();
      const issued = await store.keys.rotate(params.id!, graceS === 0 ? null : now + 1000 * graceS, caller.name);
      return ok(issuedView(issued, now));
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/limits/{id}',
    role: 'viewer',
    scope: 'global',
    summary: 'Return what is left of each limit of a key',
    response: { type: 'object', schema: KEY_LIMITS },
    async handle({ gateway, store: _ }, { params }) {
      if (gateway.access === null) throw unlimitedKeys();
      const view = await gateway.access.limitsOf(params.id!);
      if (view === null) throw unknownKey(params.id!);
      return ok(view);
    },
  }),
];

const classesOf = ({ servedGateway, store }: ApiHost) => knownClasses(servedGateway?.endpoints.values() ?? [], store);

async function issue(host: ApiHost, { caller, params }: ApiRequest<object, undefined>) {
  const { keys, store } = await host.control();
  const ref = { kind: 'ApiKey', workspace: params.workspace!, name: params.name! };
  const present = await store.get(ref);
  if (present === null) throw unknownResource(ref);
  await authoriseChange(caller, store, present);
  const { id, text } = await issueKey(store, keys, ref, caller.name);
  const uid = present.metadata.uid!;
  await store.events.add({ ...ref, uid }, 'normal', 'Issued', 'a new secret was issued');
  return ok({ kind: 'IssuedKey', key_id: id, key: text });
}

const issuedView = ({ key, text }: IssuedKey, now: number) => ({ ...keyView(key, now), key: text });
