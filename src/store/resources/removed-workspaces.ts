import type { StoreDatabase } from '../database/database.js';
import type { Resources } from './resources.js';

const LOOK_MS = 5000;

/**
 * Called when a workspace has been removed, by whatever process.
 * @param untilMs what is kept of the workspace since then belongs to another one of that name; milliseconds since 1970
 */
export type WorkspaceRemoved = (workspace: string, untilMs: number) => unknown;

/**
 * Reports the workspaces that have been removed, at first also those before the start: what is kept outside of the store goes with them.
 * Removals of this process are reported before they resolve, and those of others within seconds.
 */
export class RemovedWorkspaces {
  readonly #store: Pick<StoreDatabase, 'db'> & { readonly resources: Pick<Resources, 'version' | 'watch'> };
  readonly #removed: WorkspaceRemoved;
  readonly #stop: () => void;
  readonly #timer: NodeJS.Timeout;
  #version = 0;
  /** One look after the other: each goes on where the last one ended. */
  #last: Promise<void> = Promise.resolve();

  /** @param fault called with what a look fails with; the next one repeats it */
  constructor(
    store: Pick<StoreDatabase, 'db'> & { readonly resources: Pick<Resources, 'version' | 'watch'> },
    removed: WorkspaceRemoved,
    fault: (error: unknown) => void,
  ) {
    this.#store = store;
    this.#removed = removed;
    const look = () => this.look().catch(fault);
    this.#stop = store.resources.watch((changes) =>
      changes.some(({ record, type }) => type === 'removed' && record.kind === 'Workspace') ? look() : undefined,
    );
    this.#timer = setInterval(look, LOOK_MS).unref();
  }

  /** Reports those that have been removed since the last look. */
  look(): Promise<void> {
    const turn = this.#last.then(() => this.#look());
    this.#last = turn.catch(() => {});
    return turn;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop();
    await this.#last;
  }

  async #look(): Promise<void> {
    const { db, resources } = this.#store;
    const version = await resources.version();
    if (version === this.#version) return;
    const rows = await db
      .selectFrom('audit_log')
      .select(['name', 'at'])
      .where('version', '>', this.#version)
      .where('version', '<=', version)
      .where('kind', '=', 'Workspace')
      .where('action', '=', 'remove')
      .orderBy('version')
      .execute();
    const latest = new Map(rows.map(({ at, name }) => [name, at]));
    for (const [name, at] of latest) await this.#removed(name, at);
    this.#version = version;
  }
}
