import { type FormEvent, useState } from 'react';
import { pathOf } from '../../api/client';
import { useChange, useGet } from '../../api/queries';
import type { LiveEndpoint, Page } from '../../api/types';
import { Button, Card } from '../../parts/basics';
import { Command } from '../../parts/command';
import { flag, inWorkspace, quoted } from '../../parts/commands';
import { optionsOf } from '../../parts/policy-options';
import { Failure } from '../../parts/states';

interface AddShadowProps {
  readonly base: string;
  readonly endpoint: Pick<LiveEndpoint, 'name' | 'workspace'>;
  /** Names of the present shadows. */
  readonly taken: readonly string[];
}

/** Adds a shadow until the gateway stops. */
export function AddShadow({ base, endpoint, taken }: AddShadowProps) {
  const { data } = useGet<Page<{ readonly name: string; readonly summary: string }>>('policies?limit=100');
  const [policy, setPolicy] = useState('');
  const [name, setName] = useState('');
  const [options, setOptions] = useState('');
  const change = useChange();
  const own = name === '' ? freeName(policy, taken) : name;
  const given = optionsOf(options);
  const command = [
    `twinyard shadow add ${quoted(policy)}${flag('name', own === policy ? undefined : own)}`,
    ...Object.entries(given).map(([key, value]) => flag('option', `${key}=${value}`)),
    `${flag('endpoint', endpoint.name)}${inWorkspace(endpoint.workspace)}`,
  ].join('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = { policy, ...(Object.keys(given).length === 0 ? {} : { options: given }) };
    const done = () => {
      setPolicy('');
      setName('');
      setOptions('');
    };
    change.mutate({ method: 'PUT', path: `${base}/shadows/${pathOf(own)}`, body }, { onSuccess: done });
  };
  return (
    <Card title="Add a shadow">
      <form className="padded" onSubmit={submit}>
        <div className="question">
          <label className="field">
            <span>Policy of the shadow</span>
            <select required value={policy} onChange={({ target }) => setPolicy(target.value)}>
              <option value="">Choose one</option>
              {(data?.items ?? []).map((one) => (
                <option key={one.name}>{one.name}</option>
              ))}
            </select>
          </label>
          <label className="field">
            <span>Its options</span>
            <input
              placeholder="name=value, name=value"
              value={options}
              onChange={({ target }) => setOptions(target.value)}
            />
          </label>
          <label className="field">
            <span>Name of the shadow</span>
            <input placeholder={own} value={name} onChange={({ target }) => setName(target.value)} />
          </label>
        </div>
        <p className="muted">
          {data?.items.find((one) => one.name === policy)?.summary ??
            'It uses at most a tenth of a processor, and nothing of the GPUs.'}
        </p>
        {policy === '' ? null : <Command text={command} />}
        {change.error === null ? null : <Failure error={change.error} />}
        <Button type="submit" look="primary" disabled={policy === '' || change.isPending}>
          Add the shadow
        </Button>
        <p className="muted">
          It stays until it is removed or the gateway stops; one in the policy of the endpoint (<code>shadow</code>)
          stays for good.
        </p>
      </form>
    </Card>
  );
}

function freeName(policy: string, taken: readonly string[]): string {
  if (!taken.includes(policy)) return policy;
  for (let i = 2; ; i++) if (!taken.includes(`${policy}-${i}`)) return `${policy}-${i}`;
}
