import { Link } from '@tanstack/react-router';
import type { Job } from '../../api/jobs';
import { Card } from '../../parts/basics';
import { JobTable } from '../../parts/job-table';
import { metricName } from './metric-text';
import { type AskedPolicy, policyText, QUESTIONS, type Question, searchOf } from './question';
import { switchTitle } from './switch/switch-card';

export const isQuestion = (kind: string): kind is Question => Object.hasOwn(QUESTIONS, kind);

/** What was asked about an endpoint since the gateway started. */
export function EarlierQuestions({ jobs }: { readonly jobs: readonly Job[] }) {
  const asked = jobs.filter(({ kind }) => isQuestion(kind) || kind === 'switch');
  if (asked.length === 0) return null;
  return (
    <Card title="Asked before">
      <JobTable name="Asked before" about="Question" jobs={asked} link={(job) => <EarlierLink job={job} />} />
    </Card>
  );
}

function EarlierLink({ job }: { readonly job: Job }) {
  const { asked, endpoint, id, kind, workspace } = job;
  if (!isQuestion(kind)) {
    return (
      <Link to="/whatif" search={(before) => ({ ...before, workspace, endpoint, switch: id })}>
        {switchTitle(job)}
      </Link>
    );
  }
  return (
    <Link to="/whatif" search={{ ...searchOf(kind, asked), workspace, endpoint, job: id }}>
      {QUESTIONS[kind]}: {inWords(job)}
    </Link>
  );
}

/** A question in a line. */
export function inWords({ asked, kind }: Pick<Job, 'asked' | 'kind'>): string {
  const policies = kind === 'whatif' ? ((asked.policies ?? []) as AskedPolicy[]) : [];
  const parts = [
    kind === 'advice' ? metricName(String(asked.metric)) : policies.map(policyText).join(', ') || asked.policy,
    asked.replicas === undefined ? undefined : `${asked.replicas} replica${asked.replicas === 1 ? '' : 's'}`,
    asked.gpu,
    (asked.admission as { policy: string } | undefined)?.policy,
    asked.flow_control === undefined ? undefined : asked.flow_control === null ? 'no queue' : 'with a queue',
    ...((asked.slos ?? []) as { metric: string; statistic: string; limit_ms: number }[]).map(
      ({ limit_ms, metric, statistic }) => `${metric} ${statistic} ≤ ${limit_ms} ms`,
    ),
    asked.workload ?? `last ${asked.last}`,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}
