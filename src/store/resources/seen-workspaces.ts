import { type RawBuilder, sql } from 'kysely';
import type { ResourceRef } from './resource-record.js';

/** The kind of resource that a workspace is. It belongs to no workspace, and is seen by those who see the workspace. */
const WORKSPACE = 'Workspace';

/**
 * Whether a caller that sees some workspaces sees a resource: those of the workspaces, and those that belong to none, but
 * for other workspaces.
 * @param workspaces undefined for every one
 */
export function isSeen({ kind, name, workspace }: ResourceRef, workspaces: readonly string[] | undefined): boolean {
  if (workspaces === undefined || workspaces.includes(workspace)) return true;
  return workspace === '' && (kind !== WORKSPACE || workspaces.includes(name));
}

/** The same as a condition on the rows of a table. */
export function seenRows(workspaces: readonly string[]): RawBuilder<boolean> {
  const names = sql.join(workspaces);
  return sql<boolean>`(workspace in (${names}) or (workspace = '' and (kind <> ${WORKSPACE} or name in (${names}))))`;
}

/** The changes that admins of some workspaces see: those in the workspaces, and of the workspaces themselves. */
export function auditedRows(workspaces: readonly string[]): RawBuilder<boolean> {
  const names = sql.join(workspaces);
  return sql<boolean>`(workspace in (${names}) or (workspace = '' and kind = ${WORKSPACE} and name in (${names})))`;
}
