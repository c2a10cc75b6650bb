import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../../api/access';
import { pathOf } from '../../../api/client';
import type { Job } from '../../../api/jobs';
import { type Change, useChange, useGet } from '../../../api/queries';
import type { LiveEndpoint } from '../../../api/types';
import { Button } from '../../../parts/basics';
import { changeCommand } from '../../../parts/change-command';
import { AsCommand } from '../../../parts/command';
import { Dialog } from '../../../parts/dialog';
import { Differences, differencesOf } from '../../../parts/differences';
import { NotChanged } from '../../../parts/not-changed';
import { Failure } from '../../../parts/states';
import { type PlannedSwap, useSwapPreview, type WantedPolicy } from '../../../parts/swap-preview';
import type { AskedPolicy } from '../question';
import { FIRST_GUARD, GUARD_METRICS, type Guard, isGuard, WATCHES } from './guard';

const route = getRouteApi('/whatif');

interface ServePolicyProps {
  /** workspace/name */
  readonly called: string;
  /** As it was asked about: an option that was left out has the default of the gateway. */
  readonly choice: AskedPolicy;
  /** What the question changed besides the policy. */
  readonly notChanged?: readonly string[];
}

/** A policy to be served from now on, after a preview. Viewers see no button. */
export function ServePolicy({ called, choice, notChanged = [] }: ServePolicyProps) {
  const [workspace, name] = called.split('/') as [string, string];
  const base = `workspaces/${pathOf(workspace, 'endpoints', name)}`;
  const mayChange = useMay('operator', workspace);
  const { data: endpoint } = useGet<LiveEndpoint>(mayChange ? `${base}/live` : null);
  if (!mayChange || endpoint === undefined) return null;
  const { options, policy } = choice;
  const { routing } = endpoint.policy;
  const isServed = routing?.policy === policy && differencesOf(options, routing.options ?? {}).length === 0;
  if (isServed) return <span className="muted">served at present</span>;
  return <ServeDialog wanted={{ base, endpoint, policy, options }} notChanged={notChanged} />;
}

interface ServeDialogProps {
  readonly wanted: WantedPolicy;
  readonly notChanged: readonly string[];
}

/** What changes, and whether the gateway watches it and goes back. */
function ServeDialog({ notChanged, wanted }: ServeDialogProps) {
  const { base, endpoint, policy } = wanted;
  const navigate = route.useNavigate();
  const preview = useSwapPreview(wanted);
  const { plan } = preview;
  const change = useChange<unknown>();
  const [isWatched, setWatched] = useState(true);
  const [guard, setGuard] = useState(FIRST_GUARD);
  const close = () => {
    preview.close();
    change.reset();
  };
  const served = plan === null ? null : isWatched ? watched(base, plan, guard) : plan.swap;
  const done = (made: unknown) => {
    close();
    if (isWatched) void navigate({ search: (before) => ({ ...before, switch: (made as Job).id }), replace: true });
  };
  return (
    <>
      {preview.error === null ? null : <Failure error={preview.error} />}
      <Button look="primary" disabled={preview.isPending} onClick={() => void preview.show()}>
        Serve this policy
      </Button>
      <Dialog title={`Serve ${policy}`} isOpen={plan !== null} onClose={close}>
        <Differences items={plan?.differences ?? []} />
        <NotChanged items={notChanged} />
        <label className="pick">
          <input type="checkbox" checked={isWatched} onChange={({ target }) => setWatched(target.checked)} />
          <span>Watch it, and go back to {endpoint.policy.routing?.policy} if it is worse</span>
        </label>
        {isWatched ? (
          <GuardFields guard={guard} onChange={(next) => setGuard({ ...guard, ...next })} />
        ) : (
          <p className="muted">Requests under way stay where they are; the next one is placed by the new policy.</p>
        )}
        {change.error === null ? null : <Failure error={change.error} />}
        <div className="dialog-actions">
          <Button onClick={close}>Cancel</Button>
          <Button
            look="primary"
            onClick={() => change.mutate(served!, { onSuccess: done })}
            disabled={change.isPending || (isWatched && !isGuard(guard))}
          >
            {isWatched ? 'Switch and watch' : 'Switch'}
          </Button>
        </div>
        {served === null ? null : <AsCommand commands={[changeCommand(served)]} />}
      </Dialog>
    </>
  );
}

/** The routing that was previewed, served with a guard. */
function watched(base: string, { headers, routing }: PlannedSwap, { metric, percent, watch }: Guard): Change {
  const body = { policy: routing, guard: { metric, most: Number(percent) / 100 }, watch };
  return { method: 'POST', path: `${base}/policy/switch`, body, headers };
}

function GuardFields({ guard, onChange }: { guard: Guard; onChange: (change: Partial<Guard>) => void }) {
  const isErrors = guard.metric === 'errors';
  return (
    <>
      <div className="question">
        <label className="field">
          <span>Guard</span>
          <select value={guard.metric} onChange={({ target }) => onChange({ metric: target.value })}>
            {Object.entries(GUARD_METRICS).map(([metric, name]) => (
              <option key={metric} value={metric}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>{isErrors ? 'At most so many points more' : 'At most so many % worse'}</span>
          <input
            type="number"
            min={0}
            max={10_000}
            step="any"
            value={guard.percent}
            onChange={({ target }) => onChange({ percent: target.value })}
          />
        </label>
        <label className="field">
          <span>Watch for</span>
          <select value={guard.watch} onChange={({ target }) => onChange({ watch: target.value })}>
            {WATCHES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </div>
      <p className="muted">
        Compared with as long a time before the switch, which needs 50 requests. The gateway goes back when it is worse,
        when fewer than 50 requests end, when the switch is cancelled, and when the gateway stops.
      </p>
    </>
  );
}
