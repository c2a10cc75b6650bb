import { Link } from '@tanstack/react-router';
import type { Job } from '../../api/jobs';
import { Card, TablePlace } from '../../parts/basics';
import { JobState } from '../../parts/job-progress';
import { Time } from '../../parts/time';
import { metricName } from './metric-text';
import { QUESTIONS, type Question, searchOf } from './question';

const isQuestion = (kind: string): kind is Question => Object.hasOwn(QUESTIONS, kind);

/** What was asked about an endpoint since the gateway started. */
export function EarlierQuestions({ jobs }: { readonly jobs: readonly Job[] }) {
  const asked = jobs.filter(({ kind }) => isQuestion(kind));
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
                  <Link
                    to="/whatif"
                    search={{
                      ...searchOf(job.kind as Question, job.asked),
                      ...{ workspace: job.workspace, endpoint: job.endpoint, job: job.id },
                    }}
                  >
                    {QUESTIONS[job.kind as Question]}: {inWords(job)}
                  </Link>
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

function inWords({ asked, kind }: Job): string {
  const policies = (asked.policies ?? []) as { policy: string }[];
  const parts = [
    kind === 'advice'
      ? metricName(String(asked.metric))
      : policies.map(({ policy }) => policy).join(', ') || asked.policy,
    asked.replicas === undefined ? undefined : `${asked.replicas} replica${asked.replicas === 1 ? '' : 's'}`,
    asked.gpu,
    asked.flow_control === undefined ? undefined : asked.flow_control === null ? 'no queue' : 'with a queue',
    ...((asked.slos ?? []) as { metric: string; statistic: string; limit_ms: number }[]).map(
      ({ limit_ms, metric, statistic }) => `${metric} ${statistic} ≤ ${limit_ms} ms`,
    ),
    asked.workload ?? `last ${asked.last}`,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}
