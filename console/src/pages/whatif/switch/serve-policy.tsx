import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../../api/access';
import { pathOf } from '../../../api/client';
import type { Job } from '../../../api/jobs';
import { useChange, useGet } from '../../../api/queries';
import type { LiveEndpoint } from '../../../api/types';
import { Button } from '../../../parts/basics';
import { Dialog } from '../../../parts/dialog';
import { Differences, differencesOf } from '../../../parts/differences';
import { Failure } from '../../../parts/states';
import { useSwapPreview } from '../../../parts/swap-policy';
import type { Choice } from '../documents';
import { FIRST_GUARD, GUARD_METRICS, type Guard, isGuard, WATCHES } from './guard';

const route = getRouteApi('/whatif');

/** Options that the question filled in: the gateway has its own. */
const FILLED_IN = ['block_size', 'tie_break'];

const ownOptions = (options: Choice['options']) =>
  Object.fromEntries(Object.entries(options).filter(([key]) => !FILLED_IN.includes(key)));

const sameOptions = (a: Choice['options'], b: Choice['options']) => differencesOf(a, b).length === 0;

/** A policy to be served from now on, after a preview. Viewers see no button. @param called workspace/name */
export function ServePolicy({ called, choice }: { readonly called: string; readonly choice: Choice }) {
  const [workspace, name] = called.split('/') as [string, string];
  const base = `workspaces/${pathOf(workspace, 'endpoints', name)}`;
  const mayChange = useMay('operator', workspace);
  const { data: endpoint } = useGet<LiveEndpoint>(mayChange ? `${base}/live` : null);
  if (!mayChange || endpoint === undefined) return null;
  const options = ownOptions(choice.options);
  const { routing } = endpoint.policy as { routing?: Partial<Choice> };
  const isServed = routing?.policy === choice.policy && sameOptions(options, ownOptions(routing.options ?? {}));
  if (isServed) return <span className="muted">served at present</span>;
  return <ServeDialog base={base} endpoint={endpoint} policy={choice.policy} options={options} />;
}

interface ServeDialogProps {
  readonly base: string;
  readonly endpoint: LiveEndpoint;
  readonly policy: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** What changes, and whether the gateway watches it and goes back. */
function ServeDialog(wanted: ServeDialogProps) {
  const { base, endpoint, options, policy } = wanted;
  const navigate = route.useNavigate();
  const preview = useSwapPreview(wanted);
  const change = useChange<unknown>();
  const [isWatched, setWatched] = useState(true);
  const [guard, setGuard] = useState(FIRST_GUARD);
  const present = endpoint.policy.routing as { policy: string; block_size?: number; cache_blocks?: number };
  const serve = () => {
    if (!isWatched) {
      change.mutate(preview.swap, { onSuccess: preview.close });
      return;
    }
    // The result was simulated with the prompt blocks of the present policy.
    const { block_size, cache_blocks } = present;
    const body = {
      policy: { policy, options, block_size, cache_blocks },
      guard: { metric: guard.metric, most: Number(guard.percent) / 100 },
      watch: guard.watch,
    };
    const done = (job: unknown) => {
      preview.close();
      void navigate({ search: (before) => ({ ...before, switch: (job as Job).id }), replace: true });
    };
    change.mutate({ method: 'POST', path: `${base}/policy/switch`, body }, { onSuccess: done });
  };
  return (
    <>
      {preview.error === null ? null : <Failure error={preview.error} />}
      <Button look="primary" disabled={preview.isPending} onClick={() => void preview.show()}>
        Serve this policy
      </Button>
      <Dialog title={`Serve ${policy}`} isOpen={preview.differences !== null} onClose={preview.close}>
        <Differences items={preview.differences ?? []} />
        <label className="pick">
          <input type="checkbox" checked={isWatched} onChange={({ target }) => setWatched(target.checked)} />
          <span>Watch it, and go back to {present.policy} if it is worse</span>
        </label>
        {isWatched ? (
          <GuardFields guard={guard} onChange={(next) => setGuard({ ...guard, ...next })} />
        ) : (
          <p className="muted">Requests under way stay where they are; the next one is placed by the new policy.</p>
        )}
        {change.error === null ? null : <Failure error={change.error} />}
        <div className="dialog-actions">
          <Button onClick={preview.close}>Cancel</Button>
          <Button look="primary" onClick={serve} disabled={change.isPending || (isWatched && !isGuard(guard))}>
            {isWatched ? 'Switch and watch' : 'Switch'}
          </Button>
        </div>
      </Dialog>
    </>
  );
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
