import type { Kysely } from 'kysely';
import type { StoreTables } from '../database/schema.js';
import type { Json, ResourceRecord } from './resource-record.js';

/** How many generations of a resource are kept, the current one included. */
export const MOST_REVISIONS = 20;

/** The spec that a resource had from a generation on. Its secrets are sealed. */
export interface Revision {
  readonly generation: number;
  /** The resource version of the change. */
  readonly version: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly spec: Json;
}

type Db = Kysely<StoreTables>;

/** Runs in the transaction of the change itself. Generations beyond the most that are kept are deleted. */
export async function keepRevision(tx: Db, record: ResourceRecord): Promise<void> {
  const { generation, specVersion, spec, uid, updatedAt } = record;
  await tx
    .insertInto('resource_revisions')
    .values({ uid, generation, version: specVersion, at: updatedAt, spec: JSON.stringify(spec) })
    .execute();
  if (generation <= MOST_REVISIONS) return;
  await tx
    .deleteFrom('resource_revisions')
    .where('uid', '=', uid)
    .where('generation', '<=', generation - MOST_REVISIONS)
    .execute();
}

export async function deleteRevisions(tx: Db, uid: string): Promise<void> {
  await tx.deleteFrom('resource_revisions').where('uid', '=', uid).execute();
}

/** The latest first. Resources of a store from before revisions have none until they change. */
export async function readRevisions(db: Db, uid: string): Promise<Revision[]> {
  const rows = await db
    .selectFrom('resource_revisions')
    .select(['generation', 'version', 'at', 'spec'])
    .where('uid', '=', uid)
    .orderBy('generation', 'desc')
    .execute();
  return rows.map(({ spec, ...row }) => ({ ...row, spec: JSON.parse(spec) as Json }));
}
