import { useState } from 'react';
import { useChange } from '../api/queries';
import type { Resource } from '../api/types';
import { Button } from './basics';
import { Command } from './command';
import { inWorkspace, quoted } from './commands';
import { Dialog } from './dialog';
import { Failure } from './states';

interface DeleteButtonProps {
  readonly resource: Resource;
  /** Its path in the API. */
  readonly base: string;
  readonly plural: string;
  readonly onDeleted: () => void;
}

/** Deletes a resource, once its name has been typed. */
export function DeleteButton({ base, onDeleted, plural, resource: { kind, metadata } }: DeleteButtonProps) {
  const { deleted_at, name, resource_version, workspace } = metadata;
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const change = useChange();
  // Also where this button is gone by then: a resource that nothing stands for is deleted at once.
  const remove = () =>
    void change
      .mutateAsync({ method: 'DELETE', path: base, headers: { 'if-match': `"${resource_version}"` } })
      .then(onDeleted, () => {});
  return (
    <>
      <Button look="danger" disabled={deleted_at !== undefined} onClick={() => setOpen(true)}>
        Delete
      </Button>
      <Dialog title={`Delete ${name}`} isOpen={isOpen} onClose={() => setOpen(false)}>
        <p>
          {kind} {name} and what it stands for are taken down. This cannot be undone.
        </p>
        <label className="field">
          <span>Type {name} to confirm</span>
          <input
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        </label>
        <Command text={`twinyard delete ${quoted(plural)}/${quoted(name)}${inWorkspace(workspace)}`} />
        {change.error === null ? null : <Failure error={change.error} />}
        <div className="dialog-actions">
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <Button look="danger" disabled={typed !== name || change.isPending} onClick={remove}>
            Delete
          </Button>
        </div>
      </Dialog>
    </>
  );
}
