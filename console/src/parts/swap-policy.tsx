import { useState } from 'react';
import { ApiFailure } from '../api/client';
import { useChange } from '../api/queries';
import type { LiveEndpoint } from '../api/types';
import { Button } from './basics';
import { Dialog } from './dialog';
import { type Difference, Differences, differencesOf } from './differences';
import { Failure } from './states';

interface SwapPolicyProps {
  /** The path of the endpoint in the API. */
  readonly base: string;
  readonly endpoint: LiveEndpoint;
  /** Null while none is chosen. */
  readonly policy: string | null;
  readonly options?: Readonly<Record<string, unknown>>;
  /** On the button. */
  readonly label: string;
  readonly onDone?: () => void;
}

/** Shows what a swap of the routing policy would change, then swaps. */
export function SwapPolicy({ base, endpoint, label, onDone = () => {}, options = {}, policy }: SwapPolicyProps) {
  const change = useChange<LiveEndpoint>();
  const preview = useChange<unknown>();
  const [plan, setPlan] = useState<readonly Difference[] | null>(null);
  const isOfFile = endpoint.source === 'file';
  const given = Object.keys(options).length === 0 ? null : options;
  const request = (isDry: boolean) =>
    isOfFile
      ? {
          method: 'PUT' as const,
          path: `${base}/policy${isDry ? '?dry_run=true' : ''}`,
          body: { policy, ...(given === null ? {} : { options: given }) },
        }
      : {
          method: 'PATCH' as const,
          path: `${base}${isDry ? '?dry_run=true' : ''}`,
          text: {
            content: JSON.stringify({ spec: { routing: { policy, options: given } } }),
            type: 'application/merge-patch+json',
          },
        };
  const show = async () => {
    const after = await preview.mutateAsync(request(true)).catch((error: ApiFailure) => error);
    if (after instanceof ApiFailure) return;
    const next = isOfFile
      ? (after as LiveEndpoint).policy
      : { ...endpoint.policy, routing: (after as { spec: { routing: object } }).spec.routing };
    setPlan(differencesOf(endpoint.policy, next));
  };
  const close = () => {
    setPlan(null);
    onDone();
  };
  return (
    <>
      {preview.error === null ? null : <Failure error={preview.error} />}
      <Button look="primary" disabled={policy === null || preview.isPending} onClick={() => void show()}>
        {label}
      </Button>
      <Dialog title={`Swap to ${policy ?? ''}`} isOpen={plan !== null} onClose={() => setPlan(null)}>
        <Differences items={plan ?? []} />
        <p className="muted">Requests under way stay where they are; the next one is placed by the new policy.</p>
        {change.error === null ? null : <Failure error={change.error} />}
        <div className="dialog-actions">
          <Button onClick={() => setPlan(null)}>Cancel</Button>
          <Button
            look="primary"
            onClick={() => change.mutate(request(false), { onSuccess: close })}
            disabled={change.isPending}
          >
            Swap
          </Button>
        </div>
      </Dialog>
    </>
  );
}
