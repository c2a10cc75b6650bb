import type { StoreTransaction } from '../database/database.js';
import { deleteRequestsOf } from '../requests/delete-requests.js';

/**
 * Deletes what is kept of a workspace besides its resources, in the transaction that removes it: another workspace of that name must not
 * read it. Usage and the audit log stay: they are the record of the installation.
 */
export async function deleteWorkspaceRows(tx: StoreTransaction, workspace: string): Promise<void> {
  await tx.deleteFrom('lab_results').where('workspace', '=', workspace).execute();
  await tx
    .deleteFrom('resource_events')
    .where(({ and, eb, or }) =>
      or([eb('workspace', '=', workspace), and([eb('kind', '=', 'Workspace'), eb('name', '=', workspace)])]),
    )
    .execute();
  await deleteRequestsOf(tx, workspace, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
}
