import { useState } from 'react';
import { useMay } from '../../api/access';
import { useGet } from '../../api/queries';
import type { LiveEndpoint, Page } from '../../api/types';
import { Card } from '../../parts/basics';
import { SwapPolicy } from '../../parts/swap-policy';

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
              <SwapPolicy
                key={wanted ?? ''}
                base={base}
                endpoint={endpoint}
                policy={wanted}
                label="Preview the swap"
                onDone={() => setWanted(null)}
              />
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
