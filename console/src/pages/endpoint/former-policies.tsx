import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Change, useChange, useGet } from '../../api/queries';
import type { LiveEndpoint, Page } from '../../api/types';
import { Button, Card } from '../../parts/basics';
import { changeCommand } from '../../parts/change-command';
import { AsCommand } from '../../parts/command';
import { Dialog } from '../../parts/dialog';
import { Differences, differencesOf } from '../../parts/differences';
import { milliseconds } from '../../parts/format';
import { Failure } from '../../parts/states';

interface Version {
  readonly policy: LiveEndpoint['policy'];
  readonly policy_hash: string;
  /** Since it took effect. */
  readonly age_s: number;
}

interface FormerPoliciesProps {
  readonly base: string;
  readonly endpoint: LiveEndpoint;
  readonly mayChange: boolean;
}

/** The policies before the one in force, and the way back to the last of them. */
export function FormerPolicies({ base, endpoint, mayChange }: FormerPoliciesProps) {
  const { data, error } = useGet<Page<Version>>(`${base}/policy/history`);
  const [, ...former] = data?.items ?? [];
  return (
    <Card title="Before">
      {error === null ? null : <Failure error={error} />}
      {former.length === 0 ? <p className="padded muted">This is the first policy since the gateway started.</p> : null}
      <ul className="plain padded">
        {former.map(({ age_s, policy, policy_hash }) => (
          <li key={`${policy_hash} ${Math.round(age_s)}`}>
            {policy.routing?.policy} <code className="muted">{policy_hash}</code>{' '}
            <span className="muted">in force from {milliseconds(1000 * age_s)} ago</span>
          </li>
        ))}
      </ul>
      {mayChange && former[0] !== undefined ? (
        <div className="padded">
          <Return base={base} endpoint={endpoint} version={former[0]} />
        </div>
      ) : null}
    </Card>
  );
}

function Return({ base, endpoint, version }: { base: string; endpoint: LiveEndpoint; version: Version }) {
  /** The change that is shown; null for none. */
  const [plan, setPlan] = useState<Change | null>(null);
  const change = useChange();
  const { name, source, workspace } = endpoint;
  const former = version.policy.routing?.policy ?? 'the former policy';
  if (source !== 'file') {
    return (
      <Link
        to="/endpoints/$workspace/$name"
        params={{ workspace, name }}
        search={{ tab: 'rollout' }}
        className="button"
        title="The policy is part of the resource: an undo of its revision returns to it"
      >
        Undo the revision
      </Link>
    );
  }
  // Of the policy that was looked at: a later one is not taken back with it.
  const headers = { 'if-match': `"${endpoint.policy_hash}"` };
  const open = () => setPlan({ method: 'POST', path: `${base}/policy/rollback`, headers });
  const close = () => setPlan(null);
  return (
    <>
      <Button onClick={open}>Return to {former}</Button>
      <Dialog title={`Return to ${former}`} isOpen={plan !== null} onClose={close}>
        <Differences items={differencesOf(endpoint.policy, version.policy)} />
        <p className="muted">Requests under way stay where they are; the next one is placed by the former policy.</p>
        {change.error === null ? null : <Failure error={change.error} />}
        <div className="dialog-actions">
          <Button onClick={close}>Cancel</Button>
          <Button look="primary" disabled={change.isPending} onClick={() => change.mutate(plan!, { onSuccess: close })}>
            Return
          </Button>
        </div>
        {plan === null ? null : <AsCommand commands={[changeCommand(plan)]} />}
      </Dialog>
    </>
  );
}
