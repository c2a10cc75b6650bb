import { getRouteApi } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useMay } from '../../api/access';
import { pathOf } from '../../api/client';
import { isOpenJob, type Job } from '../../api/jobs';
import { useLive } from '../../api/live';
import { useChange, useGet } from '../../api/queries';
import type { Page } from '../../api/types';
import { Button, Card } from '../../parts/basics';
import { Failure } from '../../parts/states';
import type { WhatIfSearch } from '../../shell/router';
import { METRICS, metricName } from './metric-text';
import { bodyOf, type Question } from './question';

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

const QUEUES = ['none', '4', '8', '16', '32', '64', '128'];
const queueText = (from: string) => (from === 'none' ? 'None' : `From ${from} in flight on each replica`);

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
    change.mutate(
      { method: 'POST', path, body: bodyOf(question, search) },
      { onSuccess: ({ id }) => void navigate({ search: (before) => ({ ...before, job: id }) }) },
    );
  };
  const isBusy = change.isPending || (job !== undefined && isOpenJob(job));
  return (
    <Card title="Question">
      <form className="padded" onSubmit={submit}>
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
          {question === 'advice' ? <MetricChoice /> : <PolicyChoice />}
          {question === 'whatif' ? <AlternativeFields /> : null}
          {question === 'plan' ? <PlanFields /> : null}
        </div>
        <details className="engines" open={search.model !== undefined || search.hardware !== undefined}>
          <summary>Engines, where the gateway cannot know them</summary>
          <div className="question">
            <Field name="model" label="Model of the catalogue" placeholder="as served" />
            <Field name="hardware" label="GPU" placeholder="as usual for it" />
            <Field name="tp" label="GPUs of a replica" placeholder="as usual for it" type="number" />
          </div>
        </details>
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
          void navigate({ search: (before) => ({ ...before, workspace, endpoint, job: undefined }), replace: true });
        }}
      >
        {(names.includes(chosen) ? names : [chosen, ...names]).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function PolicyChoice() {
  const { data } = useGet<Page<{ readonly name: string }>>('policies?limit=100');
  return (
    <Choice name="policy" label="Routing policy" values={(data?.items ?? []).map(({ name }) => name)} none="As now" />
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

function AlternativeFields() {
  const { policy } = route.useSearch();
  return (
    <>
      {policy === undefined ? null : <Field name="options" label="Its options" placeholder="name=value, name=value" />}
      <Field name="replicas" label="Replicas" placeholder="as recorded" type="number" />
      <Field name="gpu" label="GPU" placeholder="as recorded" />
      <Choice name="queue" label="Queue before routing" values={QUEUES} none="As now" shown={queueText} />
    </>
  );
}

function PlanFields() {
  const { workload } = route.useSearch();
  return (
    <>
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

type Name = Exclude<keyof WhatIfSearch, 'ask' | 'workspace' | 'endpoint' | 'job'>;

function useParameter(name: Name): [string, (value: string) => void] {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (value: string) =>
    void navigate({ search: (before) => ({ ...before, [name]: value === '' ? undefined : value }), replace: true });
  return [search[name] ?? '', set];
}

interface ChoiceProps {
  readonly name: Name;
  readonly label: string;
  readonly values: readonly string[];
  /** Chosen when the address has none. */
  readonly standard?: string;
  /** The choice of none, in words. */
  readonly none?: string;
  readonly shown?: (value: string) => string;
}

function Choice({ label, name, none, shown = (value) => value, standard = '', values }: ChoiceProps) {
  const [value, set] = useParameter(name);
  const chosen = value === '' ? standard : value;
  return (
    <label className="field">
      <span>{label}</span>
      <select value={chosen} onChange={({ target }) => set(target.value === standard ? '' : target.value)}>
        {none === undefined ? null : <option value="">{none}</option>}
        {(chosen === '' || values.includes(chosen) ? values : [chosen, ...values]).map((one) => (
          <option key={one} value={one}>
            {shown(one)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FieldProps {
  readonly name: Name;
  readonly label: string;
  readonly placeholder?: string;
  readonly type?: 'text' | 'number';
  readonly step?: 'any';
  readonly required?: true;
}

function Field({ label, name, type = 'text', ...rest }: FieldProps) {
  const [value, set] = useParameter(name);
  return (
    <label className="field">
      <span>{label}</span>
      <input
        {...rest}
        type={type}
        {...(type === 'number' ? { min: rest.step === 'any' ? 0 : 1 } : {})}
        value={value}
        onChange={({ target }) => set(target.value)}
      />
    </label>
  );
}
