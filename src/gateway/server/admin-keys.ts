import { keyView } from '../../store/keys/key-view.js';
import type { IssuedKey } from '../../store/keys/keys.js';
import { knownClasses } from '../access/known-classes.js';
import type { AdminHost } from './admin-host.js';
import { type AdminRequest, type AdminResponse, failed, ok } from './admin-route.js';
import { readKeyChanges, readNewKeyBody, readRotation } from './read-key-body.js';

/**
 * Keys as the admin port shows them: never a hash, and a key's text in the one response that made it. What is changed here this
 * gateway knows at once, by `keys.changed`.
 */

export async function listKeys(host: AdminHost): Promise<AdminResponse> {
  const { store } = host;
  if (store === null) return noStore();
  const now = await store.now();
  return ok((await store.keys.list()).map((key) => keyView(key, now)));
}

export async function showKey({ store }: AdminHost, { name: id }: AdminRequest): Promise<AdminResponse> {
  if (store === null) return noStore();
  const key = await store.keys.get(id);
  return key === null ? noKey() : ok(keyView(key, await store.now()));
}

export async function createKey(host: AdminHost, { body, by }: AdminRequest): Promise<AdminResponse> {
  const { store } = host;
  if (store === null) return noStore();
  const classes = await knownClasses(host.endpoints.values(), store);
  const issued = await store.keys.create(readNewKeyBody(body, await store.now(), classes), by);
  return { status: 201, body: issuedView(issued, await store.now()) };
}

export async function changeKey(host: AdminHost, { body, by, name: id }: AdminRequest): Promise<AdminResponse> {
  const { store } = host;
  if (store === null) return noStore();
  const classes = await knownClasses(host.endpoints.values(), store);
  const key = await store.keys.update(id, readKeyChanges(body, await store.now(), classes), by);
  return ok(keyView(key, await store.now()));
}

export async function revokeKey(host: AdminHost, { by, name: id }: AdminRequest): Promise<AdminResponse> {
  const { store } = host;
  if (store === null) return noStore();
  const key = await store.keys.revoke(id, by);
  return ok(keyView(key, await store.now()));
}

export async function rotateKey(host: AdminHost, { body, by, name: id }: AdminRequest): Promise<AdminResponse> {
  const { store } = host;
  if (store === null) return noStore();
  const { graceS } = readRotation(body);
  const now = await store.now();
  const issued = await store.keys.rotate(id, graceS === 0 ? null : now + 1000 * graceS, by);
  return ok(issuedView(issued, now));
}

/** What is left of each limit of a key. */
export async function showLimits({ access, store }: AdminHost, { name: id }: AdminRequest): Promise<AdminResponse> {
  if (store === null) return noStore();
  if (access === null) return failed(409, 'this gateway asks for no keys (access.keys is off): nothing is limited');
  const view = await access.limitsOf(id);
  return view === null ? noKey() : ok(view);
}

export function noStore(): AdminResponse {
  return failed(409, "this gateway has no store: start it with --store, or with 'store' in its file");
}

/** It does not say which: somebody may have sent a key's whole text instead of its id. */
export function noKey(): AdminResponse {
  return failed(404, 'there is no such key: GET /api/keys lists those that are');
}

function issuedView({ key, text }: IssuedKey, now: number): object {
  return { ...keyView(key, now), key: text };
}
