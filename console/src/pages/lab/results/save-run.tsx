import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useMay } from '../../../api/access';
import { pathOf } from '../../../api/client';
import { useChange } from '../../../api/queries';
import { Button } from '../../../parts/basics';
import { Dialog } from '../../../parts/dialog';
import { Failure } from '../../../parts/states';
import { inWords } from '../form/lab-question';
import type { SavedRun } from '../lab-document';

const route = getRouteApi('/lab');
const MOST_LETTERS = 120;

interface SaveRunProps {
  readonly workspace: string;
  readonly job: string;
  readonly asked: Readonly<Record<string, unknown>>;
}

/** Keeps a result on the server under a name; the address then has the saved one. */
export function SaveRun({ asked, job, workspace }: SaveRunProps) {
  const navigate = route.useNavigate();
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState(inWords(asked).slice(0, MOST_LETTERS));
  const maySave = useMay('operator', workspace);
  const change = useChange<SavedRun>();
  if (!maySave) return null;
  const save = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(
      { method: 'POST', path: `workspaces/${pathOf(workspace)}/lab/results`, body: { job, name } },
      {
        onSuccess: ({ id }) => {
          setOpen(false);
          void navigate({ search: (before) => ({ ...before, job: undefined, saved: id }), resetScroll: false });
        },
      },
    );
  };
  return (
    <>
      <Button onClick={() => setOpen(true)}>Save</Button>
      <Dialog title="Save this result" isOpen={isOpen} onClose={() => setOpen(false)}>
        <form onSubmit={save}>
          <label className="field">
            <span>Name</span>
            <input
              required
              autoComplete="off"
              maxLength={MOST_LETTERS}
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          </label>
          <p className="muted">All who may see {workspace} can open it, also after the gateway was restarted.</p>
          {change.error === null ? null : <Failure error={change.error} />}
          <div className="dialog-actions">
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button type="submit" look="primary" disabled={change.isPending || name.trim() === ''}>
              Save
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
