import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../api/access';
import { pathOf, withQuery } from '../../api/client';
import { useChange, useGet } from '../../api/queries';
import type { Page } from '../../api/types';
import { Button, Card, TablePlace } from '../../parts/basics';
import { Dialog } from '../../parts/dialog';
import { Failure } from '../../parts/states';
import { Time } from '../../parts/time';
import { searchOf } from './form/lab-question';
import type { SavedRun } from './lab-document';

const route = getRouteApi('/lab');
const PAGE = 20;

/** The results of a workspace that were saved under a name. Absent while there are none. */
export function SavedRuns({ workspace }: { readonly workspace: string }) {
  const { cursor } = route.useSearch();
  const path = withQuery(`workspaces/${pathOf(workspace)}/lab/results`, { limit: PAGE, cursor });
  const { data, error } = useGet<Page<SavedRun>>(path, { keepsFormer: true });
  const mayDelete = useMay('operator', workspace);
  // A gateway without a store saves nothing.
  if (error !== null && error.code !== 'API_NO_STORE') return <Failure error={error} />;
  if (data === undefined || (data.items.length === 0 && cursor === undefined)) return null;
  return (
    <Card
      title="Saved results"
      actions={
        <>
          {cursor === undefined ? null : <PageLink cursor={undefined}>First</PageLink>}
          {data.next === null ? null : <PageLink cursor={data.next}>Next</PageLink>}
        </>
      }
    >
      <TablePlace name="Saved results">
        <table className="table table-dense">
          <thead>
            <tr>
              <th scope="col">Saved</th>
              <th scope="col">Name</th>
              <th scope="col">Verdict</th>
              <th scope="col">By</th>
              {mayDelete ? <th scope="col">Delete</th> : null}
            </tr>
          </thead>
          <tbody>
            {data.items.map((run) => (
              <tr key={run.id}>
                <td className="mono">
                  <Time at={run.saved_at} />
                </td>
                <td>
                  <Link to="/lab" search={{ ...searchOf(run.asked), workspace, saved: run.id }}>
                    {run.name}
                  </Link>
                </td>
                <td className="lab-verdict">{run.verdict}</td>
                <td className="muted">{run.saved_by}</td>
                {mayDelete ? (
                  <td>
                    <DeleteRun run={run} />
                  </td>
                ) : null}
              </tr>
            ))}
          </tbody>
        </table>
      </TablePlace>
    </Card>
  );
}

function PageLink({ children, cursor }: { readonly cursor: string | undefined; readonly children: string }) {
  return (
    <Link from="/lab" to="/lab" search={(before) => ({ ...before, cursor })} resetScroll={false} className="button">
      {children}
    </Link>
  );
}

function DeleteRun({ run: { id, name, workspace } }: { readonly run: SavedRun }) {
  const [isOpen, setOpen] = useState(false);
  const change = useChange();
  const path = `workspaces/${pathOf(workspace, 'lab', 'results', id)}`;
  return (
    <>
      <Button look="quiet" aria-label={`Delete ${name}`} onClick={() => setOpen(true)}>
        Delete
      </Button>
      <Dialog title={`Delete ${name}`} isOpen={isOpen} onClose={() => setOpen(false)}>
        <p>Its numbers are gone for all who have the link. Its commands give them again.</p>
        {change.error === null ? null : <Failure error={change.error} />}
        <div className="dialog-actions">
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <Button
            look="danger"
            disabled={change.isPending}
            onClick={() => change.mutate({ method: 'DELETE', path }, { onSuccess: () => setOpen(false) })}
          >
            Delete
          </Button>
        </div>
      </Dialog>
    </>
  );
}
