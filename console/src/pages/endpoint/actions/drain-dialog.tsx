import { pathOf } from '../../../api/client';
import { useChange } from '../../../api/queries';
import type { Replica, Resource } from '../../../api/types';
import { Button } from '../../../parts/basics';
import { Command } from '../../../parts/command';
import { inWorkspace, quoted } from '../../../parts/commands';
import { Dialog } from '../../../parts/dialog';
import { whole } from '../../../parts/format';
import { Failure } from '../../../parts/states';

interface DrainDialogProps {
  readonly base: string;
  readonly name: string;
  readonly workspace: string;
  /** Null while none is chosen. */
  readonly replica: Replica | null;
  /** Null for an endpoint of the configuration file. */
  readonly resource: Resource | null;
  readonly onClose: () => void;
}

/** What a drain does to a replica and to the endpoint, before it is made. */
export function DrainDialog({ base, name, onClose, replica, resource, workspace }: DrainDialogProps) {
  const change = useChange();
  const id = replica?.id ?? '';
  const drain = () =>
    change.mutate({ method: 'POST', path: `${base}/replicas/${pathOf(id)}/drain` }, { onSuccess: onClose });
  return (
    <Dialog title={`Drain ${id}`} isOpen={replica !== null} onClose={onClose}>
      <ol>
        {stepsOf(resource, replica?.active ?? 0).map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <Command text={`twinyard drain ep/${quoted(name)} --replica ${quoted(id)}${inWorkspace(workspace)}`} />
      {change.error === null ? null : <Failure error={change.error} />}
      <div className="dialog-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" onClick={drain} disabled={change.isPending}>
          Drain
        </Button>
      </div>
    </Dialog>
  );
}

function stepsOf(resource: Resource | null, active: number): string[] {
  const finish = `It finishes the ${whole(active)} ${active === 1 ? 'request' : 'requests'} that it has now`;
  if (resource === null) {
    return [
      'The replica gets no new requests.',
      `${finish}, and leaves the endpoint.`,
      'It is not replaced, and its engine keeps running.',
    ];
  }
  const { max_unavailable = 0, drain_timeout_s = 30 } = (resource.spec.deployment ?? {}) as Record<string, number>;
  const ready = Number(resource.status?.ready ?? 0);
  const isSpare = ready - 1 >= Number(resource.spec.replicas ?? 1) - max_unavailable;
  const stop = `${finish}, within ${drain_timeout_s} s, and stops.`;
  return isSpare
    ? ['The replica gets no new requests.', stop, 'Another one starts in its place.']
    : ['Another replica starts in its place.', 'Once that serves, this one gets no new requests.', stop];
}
