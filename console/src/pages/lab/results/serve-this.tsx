import { useState } from 'react';
import { useMay } from '../../../api/access';
import { pathOf } from '../../../api/client';
import { useLive } from '../../../api/live';
import { useGet } from '../../../api/queries';
import type { LiveEndpoint } from '../../../api/types';
import { Button } from '../../../parts/basics';
import { Dialog } from '../../../parts/dialog';
import { readPolicy } from '../../../parts/policy-options';
import { Failure } from '../../../parts/states';
import { SwapPolicy } from '../../../parts/swap-policy';
import { Choice } from '../form/fields';
import type { LabVariant } from '../lab-document';

interface ServeThisProps {
  readonly workspace: string;
  readonly variants: readonly LabVariant[];
  /** As they were asked for, in the order of the variants: an option that was left out has the default of the gateway. */
  readonly policies: readonly string[];
  /** What else the experiment had: a swap changes the policy alone. */
  readonly notChanged: readonly string[];
}

/** A policy of the experiment to be served by an endpoint from now on, after a preview. */
export function ServeThis(props: ServeThisProps) {
  const { workspace } = props;
  const [isOpen, setIsOpen] = useState(false);
  const mayServe = useMay('operator', workspace);
  if (!mayServe) return <span className="muted">To serve a policy needs the role operator in {workspace}.</span>;
  return (
    <>
      <Button look="primary" onClick={() => setIsOpen(true)}>
        Serve this policy
      </Button>
      <Dialog title="Serve a policy of this experiment" isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <ServeForm {...props} onDone={() => setIsOpen(false)} />
      </Dialog>
    </>
  );
}

function ServeForm({
  notChanged,
  onDone,
  policies,
  variants,
  workspace,
}: ServeThisProps & { readonly onDone: () => void }) {
  const endpoints = (useLive(({ traffic }) => traffic)?.items ?? []).filter((one) => one.workspace === workspace);
  const [given, setGiven] = useState<string | null>(null);
  const name = given ?? endpoints[0]?.name;
  const [chosen, setChosen] = useState(bestOf(variants));
  const base = name === undefined ? null : `workspaces/${pathOf(workspace, 'endpoints', name)}`;
  const { data: endpoint, error } = useGet<LiveEndpoint>(base === null ? null : `${base}/live`);
  const { name: policy, options } = readPolicy(policies[variants.findIndex((one) => one.name === chosen)]!);
  if (base === null) return <p className="muted">This gateway serves no endpoint of {workspace} yet.</p>;
  return (
    <>
      <Choice label="Policy" value={chosen} values={variants.map((one) => one.name)} onChange={setChosen} />
      <Choice label="Endpoint" value={name!} values={endpoints.map((one) => one.name)} onChange={setGiven} />
      {error === null ? null : <Failure error={error} />}
      <div className="dialog-actions">
        <Button onClick={onDone}>Cancel</Button>
        {endpoint === undefined ? null : (
          <SwapPolicy
            {...{ base, endpoint, notChanged, policy, onDone }}
            options={options}
            label="Preview the change"
          />
        )}
      </div>
    </>
  );
}

/** The policy with the shortest wait at the tail. */
function bestOf(variants: readonly LabVariant[]): string {
  const tail = ({ metrics }: LabVariant) => metrics.ttft_p99_ms?.mean ?? Number.POSITIVE_INFINITY;
  return variants.reduce((best, one) => (tail(one) < tail(best) ? one : best)).name;
}
