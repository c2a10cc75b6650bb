import { Link } from '@tanstack/react-router';
import { withQuery } from '../../api/client';
import { useGet, useSession } from '../../api/queries';
import type { Page, ResourceEvent } from '../../api/types';
import { Card } from '../../parts/basics';
import { type AuditEntry, ChangeTable, ofAudit, ofEvent } from '../../parts/change-table';
import { Failure } from '../../parts/states';
import { useMayAudit } from '../../parts/use-may-audit';

/** Rows of the table. */
export const SHOWN_CHANGES = 15;

/** What changed lately: what the control plane observed, and, for admins, who changed what. */
export function RecentChanges({ workspace }: { readonly workspace: string | undefined }) {
  const { data: session } = useSession();
  const hasStore = session?.has_store === true;
  const mayAudit = useMayAudit(workspace);
  const query = { workspace, limit: SHOWN_CHANGES };
  const events = useGet<Page<ResourceEvent>>(hasStore ? withQuery('events', query) : null);
  const audit = useGet<Page<AuditEntry>>(hasStore && mayAudit ? withQuery('audit', query) : null);
  if (!hasStore) return null;
  const failure = events.error ?? audit.error;
  const changes = [...(events.data?.items.map(ofEvent) ?? []), ...(audit.data?.items.map(ofAudit) ?? [])]
    .sort((a, b) => b.at.localeCompare(a.at))
    .slice(0, SHOWN_CHANGES);
  return (
    <Card
      title="What changed"
      actions={
        <Link to="/changes" className="button">
          All changes
        </Link>
      }
    >
      {failure === null ? <ChangeTable changes={changes} hasActors={mayAudit} /> : <Failure error={failure} />}
    </Card>
  );
}
