import { Link } from '@tanstack/react-router';
import { useMay } from '../../api/access';
import { withQuery } from '../../api/client';
import { useGet, useSession } from '../../api/queries';
import type { Page, ResourceEvent } from '../../api/types';
import { Badge, Card, TablePlace } from '../../parts/basics';
import { differencesOf } from '../../parts/differences';
import { Empty, Failure } from '../../parts/states';
import { Time } from '../../parts/time';

/** Rows of the table. */
const SHOWN = 15;

interface AuditEntry {
  readonly version: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly kind: string;
  readonly workspace: string;
  readonly name: string;
  readonly before: { readonly spec?: unknown; readonly labels?: unknown } | null;
  readonly after: { readonly spec?: unknown; readonly labels?: unknown } | null;
}

interface Change {
  readonly key: string;
  readonly at: string;
  readonly kind: string;
  readonly workspace: string;
  readonly name: string;
  readonly what: string;
  readonly isWarning: boolean;
  readonly message: string;
  readonly by: string;
}

const ofEvent = (one: ResourceEvent): Change => ({
  key: `event ${one.id}`,
  at: one.last_at,
  kind: one.kind,
  workspace: one.workspace ?? '',
  name: one.name,
  what: one.count > 1 ? `${one.reason} × ${one.count}` : one.reason,
  isWarning: one.type === 'warning',
  message: one.message,
  by: '',
});

function ofAudit(one: AuditEntry): Change {
  const changed = differencesOf(one.before ?? {}, one.after ?? {}).map(({ path }) => path);
  const isChange = one.action === 'update';
  return {
    key: `audit ${one.version}`,
    at: one.at,
    kind: one.kind,
    workspace: one.workspace,
    name: one.name,
    what: one.action,
    isWarning: false,
    message: isChange
      ? changed.slice(0, 4).join(', ') + (changed.length > 4 ? `, ${changed.length - 4} more` : '')
      : '',
    by: one.actor,
  };
}

/** What changed lately: what the control plane observed, and, for admins, who changed what. */
export function RecentChanges({ workspace }: { readonly workspace: string | undefined }) {
  const { data: session } = useSession();
  const hasStore = session?.has_store === true;
  const mayAudit = useMay('admin', workspace);
  const query = { workspace, limit: SHOWN };
  const events = useGet<Page<ResourceEvent>>(hasStore ? withQuery('events', query) : null);
  const audit = useGet<Page<AuditEntry>>(hasStore && mayAudit ? withQuery('audit', query) : null);
  if (!hasStore) return null;
  const failure = events.error ?? audit.error;
  const changes = [...(events.data?.items.map(ofEvent) ?? []), ...(audit.data?.items.map(ofAudit) ?? [])]
    .sort((a, b) => b.at.localeCompare(a.at))
    .slice(0, SHOWN);
  return (
    <Card title="What changed">
      {failure === null ? <ChangeTable changes={changes} hasActors={mayAudit} /> : <Failure error={failure} />}
    </Card>
  );
}

function ChangeTable({ changes, hasActors }: { readonly changes: readonly Change[]; readonly hasActors: boolean }) {
  if (changes.length === 0) {
    return (
      <Empty title="Nothing has happened yet" command="twinyard apply -f examples/endpoints/emulated.yaml">
        Changes of resources, and what became of them, appear here.
      </Empty>
    );
  }
  return (
    <TablePlace name="What changed">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">What</th>
            <th scope="col">Change</th>
            <th scope="col">Message</th>
            {hasActors ? <th scope="col">By</th> : null}
          </tr>
        </thead>
        <tbody>
          {changes.map((one) => (
            <tr key={one.key}>
              <td className="mono nowrap">
                <Time at={one.at} />
              </td>
              <td>
                <span className="muted">{one.kind} </span>
                <Target change={one} />
              </td>
              <td>
                <Badge tone={one.isWarning ? 'warn' : one.by === '' ? 'idle' : 'info'}>{one.what}</Badge>
              </td>
              <td className="message">{one.message}</td>
              {hasActors ? <td>{one.by}</td> : null}
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}

function Target({ change: { kind, name, workspace } }: { readonly change: Change }) {
  const shown = workspace === '' ? name : `${workspace}/${name}`;
  // The policy of an endpoint has its name.
  if (!['Endpoint', 'Policy'].includes(kind) || workspace === '') return shown;
  return (
    <Link to="/endpoints/$workspace/$name" params={{ workspace, name }}>
      {shown}
    </Link>
  );
}
