import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useMay } from '../../../api/access';
import { pathOf } from '../../../api/client';
import { isOpenJob, type Job } from '../../../api/jobs';
import { useLive } from '../../../api/live';
import { useChange } from '../../../api/queries';
import { Button, Card } from '../../../parts/basics';
import { usePolicies } from '../../../parts/policy-picker';
import { Failure } from '../../../parts/states';
import '../../../styles/editor.css';
import { METRICS, metricName } from '../metric-text';
import { bodyOf, type Question } from '../question';
import { Choice, Field } from './fields';
import { FlowFields, FlowOptionFields } from './flow-fields';
import { PolicyFields, PolicyOptionFields } from './policy-fields';

const route = getRouteApi('/whatif');
const RANGES = ['5m', '15m', '1h', '6h', '24h', '7d'];
const PRESETS = [
  'distribution',
  'chatbot',
  'contentgen',
  'summarization',
  'multidoc',
  'rag',
  'agentic-coder',
  'mixed-slo',
];

interface QuestionFormProps {
  readonly question: Question;
  readonly workspace: string;
  readonly endpoint: string;
  /** The one in view. */
  readonly job: Job | undefined;
}

/** The question, all of which is in the address. */
export function QuestionForm({ endpoint, job, question, workspace }: QuestionFormProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const mayAsk = useMay('operator', workspace);
  const change = useChange<Job>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const path = `workspaces/${pathOf(workspace, 'endpoints', endpoint)}/${question}`;
    // The time up to which requests were asked about is in the address too: its link reproduces the result.
    const done = ({ asked, id }: Job) =>
      void navigate({ search: (before) => ({ ...before, to: asked.to as string | undefined, job: id }) });
    change.mutate({ method: 'POST', path, body: bodyOf(question, search) }, { onSuccess: done });
  };
  const isBusy = change.isPending || (job !== undefined && isOpenJob(job));
  return (
    <Card title="Question">
      <form className="padded asks" onSubmit={submit}>
        <div className="question">
          <EndpointChoice chosen={`${workspace}/${endpoint}`} />
          {search.workload === undefined || question !== 'plan' ? (
            <Choice
              name="last"
              label="Recorded in the last"
              values={RANGES}
              standard={question === 'advice' ? '24h' : '1h'}
            />
          ) : null}
          {question === 'advice' ? <MetricChoice /> : null}
          {question === 'whatif' ? <FleetFields /> : null}
          {question === 'plan' ? <PlanFields /> : null}
        </div>
        {search.to === undefined ? null : <UpTo time={search.to} />}
        {question === 'plan' ? null : (
          <PolicyFields {...(question === 'advice' ? { most: 40, none: 'all are compared' } : { none: 'as now' })} />
        )}
        {question === 'whatif' ? (
          <>
            <PolicyOptionFields />
            <FlowOptionFields />
          </>
        ) : null}
        <Engines />
        {change.error === null ? null : <Failure error={change.error} />}
        {mayAsk ? (
          <Button type="submit" look="primary" disabled={isBusy}>
            {isBusy ? 'Computing…' : 'Ask'}
          </Button>
        ) : (
          <p className="muted">
            A question reads the recording, which needs the role operator in {workspace}. Results of others are below.
          </p>
        )}
      </form>
    </Card>
  );
}

/** A link to a result is about the requests of that time; a new question about those up to now. */
function UpTo({ time }: { readonly time: string }) {
  const navigate = route.useNavigate();
  return (
    <p className="up-to muted">
      Requests up to {time}, as this link has it.{' '}
      <Button
        look="quiet"
        onClick={() => void navigate({ search: (before) => ({ ...before, to: undefined }), replace: true })}
      >
        Up to now instead
      </Button>
    </p>
  );
}

function EndpointChoice({ chosen }: { readonly chosen: string }) {
  const navigate = route.useNavigate();
  const endpoints = useLive(({ traffic }) => traffic)?.items ?? [];
  const names = endpoints.map(({ name, workspace }) => `${workspace}/${name}`);
  return (
    <label className="field">
      <span>Endpoint</span>
      <select
        value={chosen}
        onChange={({ target }) => {
          const [workspace, endpoint] = target.value.split('/');
          const change = { workspace, endpoint, to: undefined, job: undefined, switch: undefined };
          void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
        }}
      >
        {(names.includes(chosen) ? names : [chosen, ...names]).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function MetricChoice() {
  return (
    <Choice
      name="metric"
      label="What should become better"
      values={METRICS}
      standard="ttft_p90_ms"
      shown={metricName}
    />
  );
}

function FleetFields() {
  return (
    <>
      <Field name="replicas" label="Replicas" placeholder="as recorded" type="number" />
      <Field name="gpu" label="GPU" placeholder="as recorded" />
      <FlowFields />
    </>
  );
}

function PlanFields() {
  const { workload } = route.useSearch();
  const policies = usePolicies().map(({ name }) => name);
  return (
    <>
      <Choice name="policy" label="Routing policy" values={policies} none="As now" />
      <Choice name="workload" label="Traffic" values={PRESETS} none="Recorded" shown={(name) => `Preset ${name}`} />
      {workload === undefined ? (
        <Field name="times" label="Times the recorded rate" placeholder="1" type="number" step="any" />
      ) : (
        <Field name="rate" label="Requests per second" type="number" step="any" required />
      )}
      <Field name="ttft" label="TTFT p99 at most, ms" placeholder="no limit" type="number" step="any" />
      <Field name="itl" label="ITL mean at most, ms" placeholder="no limit" type="number" step="any" />
      <Field name="e2e" label="E2E p95 at most, ms" placeholder="no limit" type="number" step="any" />
    </>
  );
}

function Engines() {
  const { hardware, model } = route.useSearch();
  const [isOpen, setOpen] = useState(model !== undefined || hardware !== undefined);
  return (
    <details className="engines" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Engines, where the gateway cannot know them</summary>
      <div className="question">
        <Field name="model" label="Model of the catalogue" placeholder="as served" />
        <Field name="hardware" label="GPU" placeholder="as usual for it" />
        <Field name="tp" label="GPUs of a replica" placeholder="as usual for it" type="number" />
      </div>
    </details>
  );
}
