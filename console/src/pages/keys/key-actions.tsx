import { useState } from 'react';
import { pathOf } from '../../api/client';
import { useChange } from '../../api/queries';
import { Button } from '../../parts/basics';
import { Command } from '../../parts/command';
import { flag, inWorkspace, quoted } from '../../parts/commands';
import { Dialog } from '../../parts/dialog';
import { Failure } from '../../parts/states';
import type { IssuedKey } from './key-list';
import { Secret } from './secret';

type What = 'rotate' | 'revoke';

/** How long the present secret is still accepted, as a command has it. */
const GRACES = {
  '0': { seconds: 0, label: 'no time: it is refused at once' },
  '1h': { seconds: 3600, label: 'an hour' },
  '24h': { seconds: 86_400, label: 'a day' },
  '7d': { seconds: 604_800, label: 'a week' },
} as const;
type Grace = keyof typeof GRACES;

interface KeyActionsProps {
  readonly name: string;
  readonly workspace: string;
  readonly look?: 'plain' | 'quiet';
}

/** Rotates and revokes a key. */
export function KeyActions({ look = 'quiet', name, workspace }: KeyActionsProps) {
  const [asked, setAsked] = useState<What | null>(null);
  return (
    <>
      <Button look={look} aria-label={`Rotate ${name}`} onClick={() => setAsked('rotate')}>
        Rotate
      </Button>
      <Button look={look} aria-label={`Revoke ${name}`} onClick={() => setAsked('revoke')}>
        Revoke
      </Button>
      {asked === null ? null : (
        <ChangeDialog what={asked} name={name} workspace={workspace} onClose={() => setAsked(null)} />
      )}
    </>
  );
}

function ChangeDialog({
  name,
  onClose,
  what,
  workspace,
}: {
  what: What;
  name: string;
  workspace: string;
  onClose: () => void;
}) {
  const change = useChange<IssuedKey>();
  const [grace, setGrace] = useState<Grace>('1h');
  const isRotation = what === 'rotate';
  const act = () => {
    const path = `workspaces/${pathOf(workspace, 'apikeys', name, isRotation ? 'issue' : 'revoke')}`;
    change.mutate(
      { method: 'POST', path, ...(isRotation ? { body: { grace_s: GRACES[grace].seconds } } : {}) },
      isRotation ? {} : { onSuccess: onClose },
    );
  };
  const issued = isRotation ? change.data?.key : undefined;
  return (
    <Dialog
      title={`${isRotation ? 'Rotate' : 'Revoke'} ${name}`}
      isOpen
      onClose={onClose}
      isClosedByButton={issued !== undefined}
    >
      {issued !== undefined ? (
        <Secret secret={issued} />
      ) : isRotation ? (
        <>
          <p>A new secret is issued and shown once.</p>
          <label className="field">
            <span>The present secret is still accepted for</span>
            <select value={grace} onChange={({ target }) => setGrace(target.value as Grace)}>
              {Object.entries(GRACES).map(([span, { label }]) => (
                <option key={span} value={span}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </>
      ) : (
        <p>Its requests are refused from now on, and its sessions end. This cannot be undone; its usage stays.</p>
      )}
      <Command
        text={`twinyard keys ${what} ${quoted(name)}${inWorkspace(workspace)}${isRotation ? flag('grace', grace) : ''}`}
      />
      {change.error === null ? null : <Failure error={change.error} />}
      <div className="dialog-actions">
        <Button onClick={onClose}>{issued === undefined ? 'Cancel' : 'Done'}</Button>
        {issued === undefined ? (
          <Button look="primary" onClick={act} disabled={change.isPending}>
            {isRotation ? 'Rotate' : 'Revoke'}
          </Button>
        ) : null}
      </div>
    </Dialog>
  );
}
