import { Link } from '@tanstack/react-router';
import type { ResourceEvent } from '../api/types';
import { Badge, TablePlace } from './basics';
import { differencesOf } from './differences';
import { Empty } from './states';
import { Time } from './time';

export interface AuditEntry {
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

export interface Change {
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

export const ofEvent = (one: ResourceEvent): Change => ({
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

export function ofAudit(one: AuditEntry): Change {
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

/** Events and changes, as they are given. */
export function ChangeTable({
  changes,
  hasActors,
}: {
  readonly changes: readonly Change[];
  readonly hasActors: boolean;
}) {
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
