import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange, useGet } from '../../api/queries';
import type { LiveEndpoint, Page } from '../../api/types';
import { Button, Card } from '../../parts/basics';
import { Command } from '../../parts/command';
import { apiCall } from '../../parts/commands';
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
  const [isOpen, setOpen] = useState(false);
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
  const back = () =>
    change.mutate({ method: 'POST', path: `${base}/policy/rollback` }, { onSuccess: () => setOpen(false) });
  return (
    <>
      <Button onClick={() => setOpen(true)}>Return to {former}</Button>
      <Dialog title={`Return to ${former}`} isOpen={isOpen} onClose={() => setOpen(false)}>
        <Differences items={differencesOf(endpoint.policy, version.policy)} />
        <p className="muted">Requests under way stay where they are; the next one is placed by the former policy.</p>
        <Command text={apiCall(`${base}/policy/rollback`, 'POST')} />
        {change.error === null ? null : <Failure error={change.error} />}
        <div className="dialog-actions">
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <Button look="primary" disabled={change.isPending} onClick={back}>
            Return
          </Button>
        </div>
      </Dialog>
    </>
  );
}
