import { useChange } from '../api/queries';
import type { LiveEndpoint } from '../api/types';
import { Button } from './basics';
import { changeCommand } from './change-command';
import { AsCommand } from './command';
import { Dialog } from './dialog';
import { Differences } from './differences';
import { NotChanged } from './not-changed';
import { Failure } from './states';
import { useSwapPreview, type WantedPolicy } from './swap-preview';

interface SwapPolicyProps extends WantedPolicy {
  /** On the button. */
  readonly label: string;
  /** What was tried with the policy, and stays as it is. */
  readonly notChanged?: readonly string[];
  readonly onDone?: () => void;
}

/** Shows what a swap of the routing policy would change, then swaps. */
export function SwapPolicy({ label, notChanged = [], onDone = () => {}, ...wanted }: SwapPolicyProps) {
  const change = useChange<LiveEndpoint>();
  const preview = useSwapPreview(wanted);
  const { plan } = preview;
  const { policy } = wanted;
  const close = () => {
    preview.close();
    change.reset();
  };
  const done = () => {
    close();
    onDone();
  };
  return (
    <>
      {preview.error === null ? null : <Failure error={preview.error} />}
      <Button look="primary" disabled={policy === null || preview.isPending} onClick={() => void preview.show()}>
        {label}
      </Button>
      <Dialog title={`Swap to ${policy ?? ''}`} isOpen={plan !== null} onClose={close}>
        <Differences items={plan?.differences ?? []} />
        <NotChanged items={notChanged} />
        <p className="muted">Requests under way stay where they are; the next one is placed by the new policy.</p>
        {change.error === null ? null : <Failure error={change.error} />}
        <div className="dialog-actions">
          <Button onClick={close}>Cancel</Button>
          <Button
            look="primary"
            onClick={() => change.mutate(plan!.swap, { onSuccess: done })}
            disabled={change.isPending}
          >
            Swap
          </Button>
        </div>
        {plan === null ? null : <AsCommand commands={[changeCommand(plan.swap)]} />}
      </Dialog>
    </>
  );
}
