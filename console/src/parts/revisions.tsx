import { useState } from 'react';
import { type Change, useChange, useGet } from '../api/queries';
import type { Page, Resource } from '../api/types';
import { Badge, Button, Card, TablePlace } from './basics';
import { changeCommand } from './change-command';
import { AsCommand } from './command';
import { inWorkspace, quoted } from './commands';
import { Dialog } from './dialog';
import { type Difference, Differences, differencesOf } from './differences';
import { Empty, Failure, Loading } from './states';
import { Time } from './time';

export interface Revision {
  readonly revision: number;
  readonly current: boolean;
  readonly at: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

interface RevisionsProps {
  /** The path of the resource. */
  readonly base: string;
  readonly resource: Resource;
  readonly mayChange: boolean;
}

/** The generations of a resource that are kept, and the way back to each. */
export function Revisions({ base, mayChange, resource }: RevisionsProps) {
  const { data, error, refetch } = useGet<Page<Revision>>(`${base}/revisions`);
  const [wanted, setWanted] = useState<Revision | null>(null);
  if (data === undefined) {
    return error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />;
  }
  return (
    <Card title="Revisions, the latest first">
      {data.items.length === 0 ? (
        <Empty title="No revision is kept yet">Each change of the desired state is one.</Empty>
      ) : (
        <TablePlace name="Revisions">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Revision</th>
                <th scope="col">Time</th>
                <th scope="col">Change</th>
                <th scope="col">
                  <span className="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.items.map((one, i) => (
                <tr key={one.revision}>
                  <td>
                    {one.revision} {one.current ? <Badge tone="info">current</Badge> : null}
                  </td>
                  <td className="mono nowrap">
                    <Time at={one.at} />
                  </td>
                  <td className="cut">{changeText(data.items[i + 1], one)}</td>
                  <td className="number">
                    {one.current || !mayChange ? null : (
                      <Button
                        look="quiet"
                        aria-label={`Undo to revision ${one.revision}`}
                        onClick={() => setWanted(one)}
                      >
                        Undo
                      </Button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TablePlace>
      )}
      {wanted === null ? null : (
        <UndoDialog base={base} resource={resource} revision={wanted.revision} onClose={() => setWanted(null)} />
      )}
    </Card>
  );
}

const short = (value: unknown) => (value === undefined ? 'none' : JSON.stringify(value).slice(0, 60));

function changeText(before: Revision | undefined, { revision, spec }: Revision): string {
  if (before === undefined) return revision === 1 ? 'created' : '';
  const found = differencesOf(before.spec, spec);
  if (found.length === 0) return 'a secret';
  return found.map((one) => `${one.path}: ${short(one.before)} → ${short(one.after)}`).join(', ');
}

/** Restores the desired state of a revision, after a look at what that changes. */
function UndoDialog({
  base,
  onClose,
  resource,
  revision,
}: {
  readonly base: string;
  readonly resource: Resource;
  readonly revision: number;
  readonly onClose: () => void;
}) {
  const preview = useChange<Resource>();
  const change = useChange<Resource>();
  const [plan, setPlan] = useState<readonly Difference[] | null>(null);
  // Of the version that was looked at: a later change is not undone with it.
  const [seen] = useState(resource);
  const { kind, metadata } = seen;
  const { name, workspace } = metadata;
  const headers = { 'if-match': `"${metadata.resource_version}"` };
  const undo: Change = { method: 'POST', path: `${base}/rollback`, body: { revision }, headers };
  if (preview.isIdle) {
    preview.mutate(
      { ...undo, path: `${undo.path}?dry_run=true` },
      { onSuccess: ({ spec }) => setPlan(differencesOf(seen.spec, spec, 'spec')) },
    );
  }
  return (
    <Dialog title={`Undo to revision ${revision}`} isOpen onClose={onClose}>
      {plan === null ? preview.error === null ? <Loading /> : null : <Differences items={plan} />}
      {(preview.error ?? change.error) === null ? null : <Failure error={(preview.error ?? change.error)!} />}
      <div className="dialog-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="primary"
          disabled={plan === null || plan.length === 0 || change.isPending}
          onClick={() => change.mutate(undo, { onSuccess: onClose })}
        >
          Undo
        </Button>
      </div>
      <AsCommand
        commands={[
          `twinyard rollout undo ${kind.toLowerCase()}/${quoted(name)}${inWorkspace(workspace)} --to-revision ${revision}`,
          changeCommand(undo),
        ]}
      />
    </Dialog>
  );
}
