import { getRouteApi } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useMay } from '../../../api/access';
import { pathOf } from '../../../api/client';
import { isOpenJob, type Job } from '../../../api/jobs';
import { type Change, useChange } from '../../../api/queries';
import { Button, Card } from '../../../parts/basics';
import { changeCommand } from '../../../parts/change-command';
import { AsCommand } from '../../../parts/command';
import { Failure } from '../../../parts/states';
import type { LabSearch } from '../../../shell/router';
import type { LabChoices } from '../lab-document';
import { Field } from './fields';
import { FleetFields } from './fleet-fields';
import { GateFields } from './gate-fields';
import { LabPolicies } from './lab-policies';
import { bodyOf, type LabForm as Form, formOf, isTrace, policiesOf, ratesOf, searchOf } from './lab-question';
import { TrafficFields } from './traffic-fields';

const route = getRouteApi('/lab');

interface LabFormProps {
  readonly workspace: string;
  readonly choices: LabChoices;
  readonly job: Job | undefined;
}

/** Traffic, fleet and policies of an experiment. Each change is a new address. */
export function LabForm({ choices, job, workspace }: LabFormProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const form = formOf(search);
  const set = (change: LabSearch) => void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const mayRun = useMay('operator', workspace);
  const change = useChange<Job>();
  const isBusy = change.isPending || (job !== undefined && isOpenJob(job));
  const lacks = lacking(form, choices.limits.rates);
  const asked = (): Change => {
    const path = `workspaces/${pathOf(workspace)}/lab/experiments`;
    return { method: 'POST', path, body: bodyOf(search, Date.now()) };
  };
  const run = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(asked(), {
      onSuccess: (created) =>
        void navigate({
          search: { ...searchOf(created.asked, search.file), workspace: search.workspace, job: created.id },
        }),
    });
  };
  return (
    <Card title="Experiment">
      <form className="padded lab-form" onSubmit={run}>
        <TrafficFields workspace={workspace} choices={choices} form={form} set={set} mayRun={mayRun} />
        <FleetFields workspace={workspace} choices={choices} form={form} set={set} />
        <LabPolicies known={choices.policies} chosen={policiesOf(form)} most={choices.limits.policies} set={set} />
        <GateFields choices={choices} form={form} set={set} />
        <fieldset>
          <legend>Measure</legend>
          <div className="question">
            <Field
              label="Seeds: runs of each policy"
              value={form.seeds}
              placeholder={isTrace(search) ? '1' : ''}
              most={choices.limits.seeds}
              onChange={(seeds) => set({ seeds })}
            />
            <Field
              label="SLO: TTFT at most, ms"
              value={form.slo ?? ''}
              placeholder="none"
              step="any"
              onChange={(slo) => set({ slo })}
            />
            <Field
              label="Age of signals, ms"
              value={form.age ?? ''}
              placeholder="0"
              step="any"
              onChange={(age) => set({ age })}
            />
          </div>
        </fieldset>
        {change.error === null ? null : <Failure error={change.error} />}
        {mayRun ? (
          <div className="lab-run">
            <Button type="submit" look="primary" disabled={isBusy || lacks !== null}>
              {isBusy ? 'Running…' : 'Run'}
            </Button>
            {lacks === null ? <AsCommand commands={[changeCommand(asked())]} /> : <p className="muted">{lacks}</p>}
          </div>
        ) : (
          <p className="muted">
            An experiment takes a core of the gateway's machine: it needs the role operator in {workspace}. Runs of
            others are below.
          </p>
        )}
      </form>
    </Card>
  );
}

/** What an experiment still needs; null when it can run. */
function lacking(form: Form, mostRates: number): string | null {
  const { endpoint, source, upload } = form;
  const policies = policiesOf(form);
  const rates = ratesOf(form.rate);
  if (rates.length > mostRates) return `Give at most ${mostRates} rates.`;
  if (policies.length === 0) return 'Choose a policy.';
  if (policies.length < 2 && rates.length < 2) return 'Choose two policies to compare, or give several rates.';
  if (new Set(policies).size < policies.length) return 'Two policies are the same: change an option of one.';
  if (source === 'upload' && upload === undefined) return 'Choose a file to upload.';
  return source === 'recording' && endpoint === undefined ? 'Choose an endpoint.' : null;
}
