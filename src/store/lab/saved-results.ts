import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { StoreDatabase } from '../database/database.js';
import type { LabResultRow } from '../database/schema.js';
import { storable } from '../database/storable.js';
import { savedFull } from './errors.js';

/** Results are a few MiB at most: what grows beyond is no result. */
const MOST_BYTES = 64 * 2 ** 20;

/** An experiment that was saved, without its result. */
export interface SavedResult {
  readonly id: string;
  readonly workspace: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly savedAt: number;
  readonly savedBy: string;
  /** What lists show of it. */
  readonly facts: object;
}

/** The place of a result in a list. */
export type SavedPlace = Pick<SavedResult, 'savedAt' | 'id'>;

const LISTED = ['id', 'workspace', 'name', 'saved_at', 'saved_by', 'facts'] as const;

/** Experiments that were saved under a name, of every workspace. Results are packed off the thread that serves requests. */
export class SavedResults {
  constructor(private readonly store: Pick<StoreDatabase, 'db' | 'exclusively'>) {}

  /** Throws when the workspace has `most` already. */
  async add(saved: SavedResult, result: object, most: number): Promise<void> {
    const packed = (await promisify(gzip)(JSON.stringify(result))).toString('base64');
    await this.store.exclusively(async (tx) => {
      const kept = tx.selectFrom('lab_results').select('id').where('workspace', '=', saved.workspace).limit(most);
      if ((await kept.execute()).length >= most) throw savedFull(saved.workspace, most);
      const row = {
        ...{ id: saved.id, workspace: saved.workspace, name: storable(saved.name), saved_at: saved.savedAt },
        ...{ saved_by: storable(saved.savedBy), facts: storable(JSON.stringify(saved.facts)), result: packed },
      };
      await tx.insertInto('lab_results').values(row).execute();
    });
  }

  /** The latest first. @param before only those that stand after this place */
  async list(workspace: string, before: SavedPlace | null, limit: number): Promise<SavedResult[]> {
    let query = this.store.db.selectFrom('lab_results').select(LISTED).where('workspace', '=', workspace);
    if (before !== null)
      query = query.where(({ and, eb, or }) =>
        or([eb('saved_at', '<', before.savedAt), and([eb('saved_at', '=', before.savedAt), eb('id', '<', before.id)])]),
      );
    const rows = await query.orderBy('saved_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
    return rows.map(savedOf);
  }

  /** Null when the workspace has none of this id. */
  async get(workspace: string, id: string): Promise<{ saved: SavedResult; result: object } | null> {
    const row = await this.store.db
      .selectFrom('lab_results')
      .selectAll()
      .where('id', '=', storable(id))
      .where('workspace', '=', workspace)
      .executeTakeFirst();
    if (row === undefined) return null;
    const bytes = await promisify(gunzip)(Buffer.from(row.result, 'base64'), { maxOutputLength: MOST_BYTES });
    return { saved: savedOf(row), result: JSON.parse(bytes.toString('utf8')) as object };
  }

  /** False when the workspace has none of this id. */
  async delete(workspace: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.store.exclusively((tx) =>
      tx.deleteFrom('lab_results').where('id', '=', storable(id)).where('workspace', '=', workspace).executeTakeFirst(),
    );
    return Number(numDeletedRows) > 0;
  }
}

function savedOf(row: Omit<LabResultRow, 'result'>): SavedResult {
  return {
    ...{ id: row.id, workspace: row.workspace, name: row.name, savedAt: row.saved_at, savedBy: row.saved_by },
    facts: JSON.parse(row.facts) as object,
  };
}
