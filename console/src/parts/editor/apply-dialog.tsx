import type { ApiFailure } from '../../api/client';
import { Button } from '../basics';
import { Dialog } from '../dialog';
import { Differences, differencesOf } from '../differences';
import { Failure } from '../states';
import type { Applied } from './use-apply';

interface ApplyDialogProps {
  readonly plan: Applied | null;
  readonly isNew: boolean;
  readonly error: ApiFailure | null;
  readonly isBusy: boolean;
  readonly onClose: () => void;
  readonly onApply: () => void;
}

/** What a change does, before it is made. */
export function ApplyDialog({ error, isBusy, isNew, onApply, onClose, plan }: ApplyDialogProps) {
  const [one] = plan?.items ?? [];
  const exists = isNew && one !== undefined && one.action !== 'created';
  const { name = '' } = one?.resource.metadata ?? {};
  const shown =
    one === undefined
      ? []
      : one.action === 'created'
        ? differencesOf({}, { spec: one.resource.spec })
        : one.differences;
  return (
    <Dialog
      title={one?.action === 'created' ? `Create ${name}` : `Apply ${name}`}
      isOpen={plan !== null}
      onClose={onClose}
    >
      {exists ? (
        <p className="login-problem" role="alert">
          {one.resource.kind} {name} exists already: choose another name, or edit that one.
        </p>
      ) : (
        <Differences items={shown} />
      )}
      {error === null ? null : <Failure error={error} />}
      <div className="dialog-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" disabled={isBusy || exists || one?.action === 'unchanged'} onClick={onApply}>
          {isNew ? 'Create' : 'Apply'}
        </Button>
      </div>
    </Dialog>
  );
}
