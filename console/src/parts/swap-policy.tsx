import { useState } from 'react';
import { ApiFailure } from '../api/client';
import { type Change, useChange } from '../api/queries';
import type { LiveEndpoint } from '../api/types';
import { Button } from './basics';
import { Dialog } from './dialog';
import { type Difference, Differences, differencesOf } from './differences';
import { Failure } from './states';

interface WantedPolicy {
  /** The path of the endpoint in the API. */
  readonly base: string;
  readonly endpoint: LiveEndpoint;
  /** Null while none is chosen. */
  readonly policy: string | null;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** What a swap of the routing policy would change, by a dry run. */
export function useSwapPreview({ base, endpoint, options = {}, policy }: WantedPolicy) {
  const preview = useChange<unknown>();
  const [differences, setDifferences] = useState<readonly Difference[] | null>(null);
  const isOfFile = endpoint.source === 'file';
  const given = Object.keys(options).length === 0 ? null : options;
  const former = Object.keys(endpoint.policy.routing?.options ?? {});
  // A merge keeps what it does not name: options of the former policy are named to be deleted.
  const merged = given === null ? null : { ...Object.fromEntries(former.map((key) => [key, null])), ...given };
  const request = (isDry: boolean): Change =>
    isOfFile
      ? {
          method: 'PUT',
          path: `${base}/policy${isDry ? '?dry_run=true' : ''}`,
          body: { policy, ...(given === null ? {} : { options: given }) },
        }
      : {
          method: 'PATCH',
          path: `${base}${isDry ? '?dry_run=true' : ''}`,
          text: {
            content: JSON.stringify({ spec: { routing: { policy, options: merged, scorers: null } } }),
            type: 'application/merge-patch+json',
          },
        };
  return {
    /** Null while nothing is previewed. */
    differences,
    error: preview.error,
    isPending: preview.isPending,
    /** Makes the change. */
    swap: request(false),
    close: () => setDifferences(null),
    async show() {
      const after = await preview.mutateAsync(request(true)).catch((error: ApiFailure) => error);
      if (after instanceof ApiFailure) return;
      const next = isOfFile
        ? (after as LiveEndpoint).policy
        : { ...endpoint.policy, routing: (after as { spec: { routing: object } }).spec.routing };
      setDifferences(differencesOf(endpoint.policy, next));
    },
  };
}

interface SwapPolicyProps extends WantedPolicy {
  /** On the button. */
  readonly label: string;
  readonly onDone?: () => void;
}

/** Shows what a swap of the routing policy would change, then swaps. */
export function SwapPolicy({ label, onDone = () => {}, ...wanted }: SwapPolicyProps) {
  const change = useChange<LiveEndpoint>();
  const preview = useSwapPreview(wanted);
  const { policy } = wanted;
  const done = () => {
    preview.close();
    onDone();
  };
  return (
    <>
      {preview.error === null ? null : <Failure error={preview.error} />}
      <Button look="primary" disabled={policy === null || preview.isPending} onClick={() => void preview.show()}>
        {label}
      </Button>
      <Dialog title={`Swap to ${policy ?? ''}`} isOpen={preview.differences !== null} onClose={preview.close}>
        <Differences items={preview.differences ?? []} />
        <p className="muted">Requests under way stay where they are; the next one is placed by the new policy.</p>
        {change.error === null ? null : <Failure error={change.error} />}
        <div className="dialog-actions">
          <Button onClick={preview.close}>Cancel</Button>
          <Button
            look="primary"
            onClick={() => change.mutate(preview.swap, { onSuccess: done })}
            disabled={change.isPending}
          >
            Swap
          </Button>
        </div>
      </Dialog>
    </>
  );
}
