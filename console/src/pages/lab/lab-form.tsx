import { getRouteApi } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useMay } from '../../api/access';
import { isOpenJob, type Job } from '../../api/jobs';
import { useChange } from '../../api/queries';
import { Button, Card } from '../../parts/basics';
import { PolicyPicker } from '../../parts/policy-picker';
import { Failure } from '../../parts/states';
import type { LabSearch } from '../../shell/router';
import { Choice, Field } from './fields';
import type { LabChoices } from './lab-document';
import { bodyOf, formOf, isTrace, NO_POLICY, policiesOf, searchOf } from './lab-question';
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
  const chosen = policiesOf(form);
  const lacks = lacking(search, chosen.length);
  const run = (event: FormEvent) => {
    event.preventDefault();
    const path = `workspaces/${encodeURIComponent(workspace)}/lab/experiments`;
    change.mutate(
      { method: 'POST', path, body: bodyOf(search, Date.now()) },
      {
        onSuccess: (created) =>
          void navigate({
            search: { ...searchOf(created.asked, search.file), workspace: search.workspace, job: created.id },
          }),
      },
    );
  };
  const usual = choices.models.find(({ name }) => name === form.model);
  return (
    <Card title="Experiment">
      <form className="padded lab-form" onSubmit={run}>
        <TrafficFields workspace={workspace} choices={choices} form={form} set={set} mayRun={mayRun} />
        <fieldset>
          <legend>Fleet</legend>
          <div className="question">
            <Choice
              label="Model"
              value={form.model}
              values={choices.models.map(({ name }) => name)}
              onChange={(model) => set({ model })}
            />
            <Field
              label="Replicas"
              value={form.replicas}
              most={choices.limits.replicas}
              onChange={(replicas) => set({ replicas })}
            />
            <Choice
              label="GPU"
              value={form.hardware ?? ''}
              values={choices.hardware}
              none={usual?.hardware == null ? 'As usual' : `As usual: ${usual.hardware}`}
              onChange={(hardware) => set({ hardware })}
            />
            <Field
              label="GPUs of a replica"
              value={form.tp ?? ''}
              placeholder={usual?.tp == null ? 'as usual' : `as usual: ${usual.tp}`}
              most={64}
              onChange={(tp) => set({ tp })}
            />
          </div>
        </fieldset>
        <PolicyPicker
          chosen={chosen}
          most={choices.limits.policies}
          note={chosen.length > 1 ? `the others are compared with ${chosen[0]}` : ''}
          onChange={(next) => set({ policies: next.join(',') || NO_POLICY })}
        />
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
            {lacks === null ? null : <p className="muted">{lacks}</p>}
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
function lacking({ endpoint, source, upload }: LabSearch, policies: number): string | null {
  if (policies < 2) return 'Choose at least two policies: one is compared with the other.';
  if (source === 'upload' && upload === undefined) return 'Choose a file to upload.';
  return source === 'recording' && endpoint === undefined ? 'Choose an endpoint.' : null;
}
