import type { Resource } from '../../control/resources/resource.js';
import { InputError } from '../../kernel/errors.js';
import type { ApiClient } from '../api/api-client.js';

/** An ApiKey as the API returns it. */
export type ShownKey = Resource;

/** The ApiKeys of a workspace. */
export class KeyApi {
  readonly #path: string;

  constructor(
    readonly client: ApiClient,
    readonly workspace: string,
  ) {
    this.#path = `/api/v1/workspaces/${encodeURIComponent(workspace)}/apikeys`;
  }

  async list(): Promise<readonly ShownKey[]> {
    return (await this.client.list<ShownKey>(this.#path)).items;
  }

  create(name: string, spec: object): Promise<ShownKey> {
    return this.client.call<ShownKey>('POST', this.#path, { body: keyDocument(name, this.workspace, spec) });
  }

  /** Changes a key unless it has been changed since it was read: then it throws RESOURCE_CONFLICT. */
  put({ metadata }: ShownKey, spec: object): Promise<ShownKey> {
    const { name, resource_version } = metadata;
    const body = keyDocument(name, this.workspace, spec, { labels: metadata.labels, resource_version });
    return this.client.call<ShownKey>('PUT', this.#pathOf(name), { body });
  }

  /** @param graceS for how many seconds the present secret is still accepted */
  issue(name: string, graceS: number): Promise<{ readonly key: string; readonly previous_until: string | null }> {
    return this.client.call('POST', `${this.#pathOf(name)}/issue`, { body: JSON.stringify({ grace_s: graceS }) });
  }

  revoke(name: string): Promise<ShownKey> {
    return this.client.call<ShownKey>('POST', `${this.#pathOf(name)}/revoke`);
  }

  /** The key of this name or id, or whose secret was given by mistake; no message repeats that. */
  async find(called: string): Promise<ShownKey> {
    const { keyIdIn } = await import('../../store/keys/key-secret.js');
    const uid = keyIdIn(called) ?? called;
    const named = uid === called ? await this.#named(called) : null;
    if (named !== null) return named;
    const [found] = UID.test(uid) ? (await this.client.list<ShownKey>(this.#path, { query: { uid } })).items : [];
    if (found !== undefined) return found;
    throw unknownKey(called);
  }

  async #named(name: string): Promise<ShownKey | null> {
    if (!NAME.test(name)) return null;
    try {
      return await this.client.call<ShownKey>('GET', this.#pathOf(name));
    } catch (error) {
      if (error instanceof InputError && error.code === 'RESOURCE_UNKNOWN') return null;
      throw error;
    }
  }

  #pathOf(name: string): string {
    return `${this.#path}/${encodeURIComponent(name)}`;
  }
}

const UID = /^[a-z0-9]{12}$/;
const NAME = /^[a-z0-9-]{1,63}$/;

function keyDocument(name: string, workspace: string, spec: object, metadata: object = {}): string {
  return JSON.stringify({
    apiVersion: 'twinyard/v1',
    kind: 'ApiKey',
    metadata: { name, workspace, ...metadata },
    spec,
  });
}

const unknownKey = (called: string) =>
  new InputError(
    'KEY_UNKNOWN',
    NAME.test(called) ? `key '${called}'` : 'key',
    'does not exist',
    "'twinyard keys list' shows those that do",
  );
