import { useBestRole, useMay } from '../api/access';

/** Whether the visitor sees who changed what: an admin of the workspace; without one, of any, since the server returns those. */
export function useMayAudit(workspace: string | undefined): boolean {
  const isAdminSomewhere = useBestRole() === 'admin';
  const isAdminThere = useMay('admin', workspace);
  return workspace === undefined ? isAdminSomewhere : isAdminThere;
}
