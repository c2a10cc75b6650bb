import { useState } from 'react';
import { useMay } from '../../api/access';
import { ApiFailure } from '../../api/client';
import { useChange, useGet } from '../../api/queries';
import type { LiveEndpoint, Page } from '../../api/types';
import { Button, Card } from '../../parts/basics';
import { Dialog } from '../../parts/dialog';
import { type Difference, Differences, differencesOf } from '../../parts/differences';
import { Failure } from '../../parts/states';

interface Choice {
  readonly name: string;
  readonly summary: string;
  readonly good_for: string;
  readonly not_for: string;
  readonly formula: string;
}

interface Version {
  readonly policy: { readonly routing?: { readonly policy?: string } };
  readonly policy_hash: string;
  readonly age_s: number;
}

export function PolicyTab({ base, endpoint }: { readonly endpoint: LiveEndpoint; readonly base: string }) {
  const mayChange = useMay('operator', endpoint.workspace);
  const { data: choices } = useGet<Page<Choice>>('policies?limit=100');
  const history = useGet<Page<Version>>(`${base}/policy/history`);
  const [wanted, setWanted] = useState<string | null>(null);
  const present = endpoint.policy.routing?.policy ?? '';
  const known = choices?.items.find(({ name }) => name === present);
  return (
    <div className="columns">
      <Card title="In force">
        <dl className="facts">
          <dt>Policy</dt>
          <dd>
            <strong>{present}</strong> {known === undefined ? null : <span className="muted">{known.summary}</span>}
          </dd>
          <dt>Rule</dt>
          <dd>
            <code>{known?.formula ?? '–'}</code>
          </dd>
          <dt>Hash</dt>
          <dd>
            <code>{endpoint.policy_hash}</code>
          </dd>
        </dl>
        <pre className="block">{JSON.stringify(endpoint.policy, null, 2)}</pre>
      </Card>
      <div>
        {mayChange ? (
          <Card title="Swap">
            <div className="form padded">
              <label className="field">
                <span>Routing policy</span>
                <select value={wanted ?? present} onChange={({ target }) => setWanted(target.value)}>
                  {(choices?.items ?? []).map(({ name }) => (
                    <option key={name}>{name}</option>
                  ))}
                </select>
              </label>
              <ChoiceFacts choice={choices?.items.find(({ name }) => name === (wanted ?? present))} />
              <Swap key={wanted ?? ''} base={base} endpoint={endpoint} policy={wanted} onDone={() => setWanted(null)} />
            </div>
          </Card>
        ) : null}
        <Card title="Before">
          <ul className="plain padded">
            {(history.data?.items ?? []).map(({ age_s, policy, policy_hash }) => (
              <li key={`${policy_hash} ${Math.round(age_s)}`}>
                {policy.routing?.policy} <code className="muted">{policy_hash}</code>{' '}
                <span className="muted">since {Math.round(age_s)} s</span>
              </li>
            ))}
          </ul>
        </Card>
      </div>
    </div>
  );
}

function ChoiceFacts({ choice }: { readonly choice: Choice | undefined }) {
  if (choice === undefined) return null;
  return (
    <p className="muted">
      {choice.summary} Good for: {choice.good_for} Not for: {choice.not_for}
    </p>
  );
}

interface SwapProps {
  readonly base: string;
  readonly endpoint: LiveEndpoint;
  readonly policy: string | null;
  readonly onDone: () => void;
}

/** Shows what a swap would change, then swaps. */
function Swap({ base, endpoint, onDone, policy }: SwapProps) {
  const change = useChange<LiveEndpoint>();
  const preview = useChange<unknown>();
  const [plan, setPlan] = useState<readonly Difference[] | null>(null);
  const isOfFile = endpoint.source === 'file';
  const request = (isDry: boolean) =>
    isOfFile
      ? { method: 'PUT' as const, path: `${base}/policy${isDry ? '?dry_run=true' : ''}`, body: { policy } }
      : {
          method: 'PATCH' as const,
          path: `${base}${isDry ? '?dry_run=true' : ''}`,
          text: {
            content: JSON.stringify({ spec: { routing: { policy, options: null } } }),
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
  const swap = () => change.mutate(request(false), { onSuccess: onDone });
  return (
    <>
      {preview.error === null ? null : <Failure error={preview.error} />}
      <Button look="primary" disabled={policy === null || preview.isPending} onClick={() => void show()}>
        Preview the swap
      </Button>
      <Dialog title={`Swap to ${policy ?? ''}`} isOpen={plan !== null} onClose={() => setPlan(null)}>
        <Differences items={plan ?? []} />
        <p className="muted">Requests under way stay where they are; the next one is placed by the new policy.</p>
        {change.error === null ? null : <Failure error={change.error} />}
        <div className="dialog-actions">
          <Button onClick={() => setPlan(null)}>Cancel</Button>
          <Button look="primary" onClick={swap} disabled={change.isPending}>
            Swap
          </Button>
        </div>
      </Dialog>
    </>
  );
}
