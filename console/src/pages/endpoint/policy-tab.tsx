import { useMay } from '../../api/access';
import { useGet } from '../../api/queries';
import type { LiveEndpoint, Page } from '../../api/types';
import { Card } from '../../parts/basics';
import { FormerPolicies } from './former-policies';
import { type PolicyChoice, SwapForm } from './swap-form';

export function PolicyTab({ base, endpoint }: { readonly endpoint: LiveEndpoint; readonly base: string }) {
  const mayChange = useMay('operator', endpoint.workspace);
  const { data: choices } = useGet<Page<PolicyChoice>>('policies?limit=100', { isFixed: true });
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
        {mayChange ? <SwapForm base={base} endpoint={endpoint} choices={choices?.items ?? []} /> : null}
        <FormerPolicies base={base} endpoint={endpoint} mayChange={mayChange} />
      </div>
    </div>
  );
}
