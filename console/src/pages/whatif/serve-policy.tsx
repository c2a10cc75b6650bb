import { useMay } from '../../api/access';
import { pathOf } from '../../api/client';
import { useGet } from '../../api/queries';
import type { LiveEndpoint } from '../../api/types';
import { SwapPolicy } from '../../parts/swap-policy';
import type { Choice } from './documents';

/** Options that the question filled in: the gateway has its own. */
const FILLED_IN = ['block_size', 'tie_break'];

/** A policy to be served from now on, after a preview. Viewers see no button. @param called workspace/name */
export function ServePolicy({ called, choice }: { readonly called: string; readonly choice: Choice }) {
  const [workspace, name] = called.split('/') as [string, string];
  const base = `workspaces/${pathOf(workspace, 'endpoints', name)}`;
  const mayChange = useMay('operator', workspace);
  const { data: endpoint } = useGet<LiveEndpoint>(mayChange ? `${base}/live` : null);
  if (!mayChange || endpoint === undefined) return null;
  if (endpoint.policy.routing?.policy === choice.policy) return <span className="muted">served at present</span>;
  const options = Object.fromEntries(Object.entries(choice.options).filter(([key]) => !FILLED_IN.includes(key)));
  return (
    <SwapPolicy base={base} endpoint={endpoint} policy={choice.policy} options={options} label="Serve this policy" />
  );
}
