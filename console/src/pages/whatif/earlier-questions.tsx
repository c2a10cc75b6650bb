import { Link } from '@tanstack/react-router';
import type { Job } from '../../api/jobs';
import { Card, TablePlace } from '../../parts/basics';
import { JobState } from '../../parts/job-progress';
import { Time } from '../../parts/time';
import { metricName } from './metric-text';
import { QUESTIONS, type Question, searchOf } from './question';
import { switchTitle } from './switch/switch-card';

const isQuestion = (kind: string): kind is Question => Object.hasOwn(QUESTIONS, kind);

/** What was asked about an endpoint since the gateway started. */
export function EarlierQuestions({ jobs }: { readonly jobs: readonly Job[] }) {
  const asked = jobs.filter(({ kind }) => isQuestion(kind) || kind === 'switch');
  if (asked.length === 0) return null;
  return (
    <Card title="Asked before">
      <TablePlace name="Asked before">
        <table className="table table-dense">
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Question</th>
              <th scope="col">By</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {asked.map((job) => (
              <tr key={job.id}>
                <td className="mono">
                  <Time at={job.created_at} />
                </td>
                <td>
                  <EarlierLink job={job} />
                </td>
                <td className="muted">{job.created_by}</td>
                <td>
                  <JobState job={job} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TablePlace>
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

function inWords({ asked, kind }: Job): string {
  const policies = kind === 'whatif' ? ((asked.policies ?? []) as { policy: string }[]) : [];
  const parts = [
    kind === 'advice'
      ? metricName(String(asked.metric))
      : policies.map(({ policy }) => policy).join(', ') || asked.policy,
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
