import { unreachableStore } from '../../store/database/errors.js';
import { LastKnown } from '../../store/last-known.js';
import type { Store } from '../../store/open-store.js';
import type { ResourceRecord } from '../../store/resources/resource-record.js';

/** The Role resources of workspaces. While the store is away, those that it had last give API keys their roles. */
export class RolesOf {
  readonly #store: () => Pick<Store, 'address' | 'resources'>;
  readonly #known = new Map<string, LastKnown<readonly ResourceRecord[]>>();

  /** @param store opens when the gateway starts */
  constructor(store: () => Pick<Store, 'address' | 'resources'>) {
    this.#store = store;
  }

  /** Throws the error of a store that has not said anything about the workspace yet. */
  async in(workspace: string): Promise<readonly ResourceRecord[]> {
    const store = this.#store();
    let roles = this.#known.get(workspace);
    if (roles === undefined) {
      roles = new LastKnown(() => store.resources.list({ kind: 'Role', workspace }));
      this.#known.set(workspace, roles);
    }
    const found = await roles.get();
    if (found === null) throw unreachableStore(store.address, 'no response');
    return found.value;
  }
}
