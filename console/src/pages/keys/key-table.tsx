import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf } from '../../api/client';
import { useChange } from '../../api/queries';
import { Badge, Button, Card, TablePlace, type Tone } from '../../parts/basics';
import { Dialog } from '../../parts/dialog';
import { Empty, Failure } from '../../parts/states';
import { Time } from '../../parts/time';
import type { IssuedKey, KeyList, KeyResource } from './key-list';
import { Secret } from './secret';

const TONES: Readonly<Record<string, Tone>> = { Active: 'good', Pending: 'info', Expired: 'warn', Revoked: 'bad' };

interface KeyTableProps {
  readonly keys: KeyList;
  readonly workspace: string;
  readonly mayChange: boolean;
}

type Asked = { readonly name: string; readonly what: 'rotate' | 'revoke' };

export function KeyTable({ keys, mayChange, workspace }: KeyTableProps) {
  const [asked, setAsked] = useState<Asked | null>(null);
  return (
    <Card
      title="API keys"
      actions={
        keys.next === null ? null : (
          <Link to="/keys" search={{ workspace, cursor: keys.next }} className="button">
            Next
          </Link>
        )
      }
    >
      {keys.items.length === 0 ? (
        <Empty title="No API key yet" command="twinyard keys create alice">
          A key says which models a client may use, and how much.
        </Empty>
      ) : (
        <TablePlace name="API keys">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">State</th>
                <th scope="col">Role</th>
                <th scope="col">Secret</th>
                <th scope="col">Models</th>
                <th scope="col">Limits</th>
                <th scope="col">Expires</th>
                {mayChange ? (
                  <th scope="col">
                    <span className="visually-hidden">Actions</span>
                  </th>
                ) : null}
              </tr>
            </thead>
            <tbody>
              {keys.items.map((one) => (
                <Row key={one.metadata.uid} one={one} workspace={workspace} onAsk={mayChange ? setAsked : null} />
              ))}
            </tbody>
          </table>
        </TablePlace>
      )}
      <ChangeDialog asked={asked} workspace={workspace} onClose={() => setAsked(null)} />
    </Card>
  );
}

function Row({
  onAsk,
  one,
  workspace,
}: {
  one: KeyResource;
  workspace: string;
  onAsk: ((asked: Asked) => void) | null;
}) {
  const { metadata, spec, status } = one;
  const { name, uid } = metadata;
  const phase = status?.phase ?? 'Pending';
  const hint = status?.hint;
  return (
    <tr>
      <td>
        <Link to="/keys" search={{ workspace, tab: 'usage', key: uid }}>
          {name}
        </Link>
      </td>
      <td>
        <Badge tone={TONES[phase] ?? 'idle'}>{phase}</Badge>
      </td>
      <td>{spec.role ?? 'none'}</td>
      <td className="mono">{typeof hint === 'string' ? `…${hint}` : <span className="muted">none yet</span>}</td>
      <td className="cut">{spec.models?.join(', ') ?? <span className="muted">all</span>}</td>
      <td>{limitsOf(spec)}</td>
      <td>{spec.expires_at === undefined ? <span className="muted">never</span> : <Time at={spec.expires_at} />}</td>
      {onAsk === null ? null : (
        <td className="number">
          {phase === 'Revoked' ? null : (
            <>
              <Button look="quiet" aria-label={`Rotate ${name}`} onClick={() => onAsk({ name, what: 'rotate' })}>
                Rotate
              </Button>
              <Button look="quiet" aria-label={`Revoke ${name}`} onClick={() => onAsk({ name, what: 'revoke' })}>
                Revoke
              </Button>
            </>
          )}
        </td>
      )}
    </tr>
  );
}

function limitsOf({ limits = {} }: KeyResource['spec']) {
  const all = Object.entries(limits).flatMap(([model, own]) =>
    Object.entries(own).map(
      ([name, value]) => `${model === '*' ? '' : `${model}: `}${name.replaceAll('_', ' ')} ${value}`,
    ),
  );
  return all.length === 0 ? <span className="muted">none</span> : all.join(', ');
}

function ChangeDialog({ asked, onClose, workspace }: { asked: Asked | null; workspace: string; onClose: () => void }) {
  const change = useChange<IssuedKey>();
  const isRotation = asked?.what === 'rotate';
  const close = () => {
    change.reset();
    onClose();
  };
  const act = () => {
    const path = `workspaces/${pathOf(workspace, 'apikeys', asked!.name, isRotation ? 'issue' : 'revoke')}`;
    change.mutate(
      { method: 'POST', path, ...(isRotation ? { body: { grace_s: 3600 } } : {}) },
      isRotation ? {} : { onSuccess: close },
    );
  };
  const issued = isRotation ? change.data?.key : undefined;
  return (
    <Dialog title={`${isRotation ? 'Rotate' : 'Revoke'} ${asked?.name ?? ''}`} isOpen={asked !== null} onClose={close}>
      {issued === undefined ? (
        <p>
          {isRotation
            ? 'A new secret is issued and shown once. The present one is accepted for another hour.'
            : 'Its requests are refused from now on, and its sessions end. This cannot be undone; its usage stays.'}
        </p>
      ) : (
        <Secret secret={issued} />
      )}
      {change.error === null ? null : <Failure error={change.error} />}
      <div className="dialog-actions">
        <Button onClick={close}>{issued === undefined ? 'Cancel' : 'Done'}</Button>
        {issued === undefined ? (
          <Button look="primary" onClick={act} disabled={change.isPending}>
            {isRotation ? 'Rotate' : 'Revoke'}
          </Button>
        ) : null}
      </div>
    </Dialog>
  );
}
