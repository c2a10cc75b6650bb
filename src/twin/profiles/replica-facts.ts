import { type EngineFacts, type FactsReplica, readEngineFacts } from '../../gateway/prediction/engine-facts.js';

const READ_EVERY_US = 60e6;
const TIMEOUT_MS = 2000;

/** A replica whose facts are read. */
export interface KnownReplica extends FactsReplica {
  readonly state: string;
  readonly readySinceMs: number;
}

interface ReadFacts {
  readonly facts: EngineFacts;
  readonly readUs: number;
  readonly readySinceMs: number;
}

/** What engines say of themselves, read again every minute and when they have been away. */
export class ReplicaFacts {
  readonly #known = new Map<string, ReadFacts>();

  /** Reads what is due, at once. */
  async refresh(replicas: readonly KnownReplica[], nowUs: number): Promise<void> {
    const due = replicas.filter((replica) => replica.state === 'ready' && this.#isDue(replica, nowUs));
    await Promise.all(
      due.map(async (replica) => {
        const { id, readySinceMs } = replica;
        this.#known.set(id, { facts: await readEngineFacts(replica, TIMEOUT_MS), readUs: nowUs, readySinceMs });
      }),
    );
  }

  /** Of the one that became ready last: a new version shows there first. Null when none is known. */
  latest(replicas: readonly KnownReplica[]): EngineFacts | null {
    let latest: ReadFacts | null = null;
    for (const { id } of replicas) {
      const known = this.#known.get(id);
      if (known !== undefined && (latest === null || known.readySinceMs > latest.readySinceMs)) latest = known;
    }
    return latest?.facts ?? null;
  }

  /** Forgets all but these replicas. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
  }

  #isDue({ id, readySinceMs }: KnownReplica, nowUs: number): boolean {
    const known = this.#known.get(id);
    return known === undefined || known.readySinceMs !== readySinceMs || nowUs - known.readUs >= READ_EVERY_US;
  }
}
