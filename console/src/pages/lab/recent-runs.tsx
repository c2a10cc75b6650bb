import { Link } from '@tanstack/react-router';
import type { Job } from '../../api/jobs';
import { Card, TablePlace } from '../../parts/basics';
import { JobState } from '../../parts/job-progress';
import { Empty } from '../../parts/states';
import { Time } from '../../parts/time';
import { inWords, searchOf } from './form/lab-question';

/** Experiments that the gateway keeps: the last ones since it started. */
export function RecentRuns({ jobs }: { readonly jobs: readonly Job[] }) {
  return (
    <Card title="Recent runs">
      {jobs.length === 0 ? (
        <Empty title="No run yet" command="twinyard compare --preset routing --format table">
          Press Run: the experiment above takes seconds. The same by the command line:
        </Empty>
      ) : (
        <TablePlace name="Recent runs">
          <table className="table table-dense">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Experiment</th>
                <th scope="col">By</th>
                <th scope="col">State</th>
              </tr>
            </thead>
            <tbody>
              {jobs.map((job) => (
                <tr key={job.id}>
                  <td className="mono">
                    <Time at={job.created_at} />
                  </td>
                  <td>
                    <Link to="/lab" search={{ ...searchOf(job.asked), workspace: job.workspace, job: job.id }}>
                      {inWords(job.asked)}
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
      )}
    </Card>
  );
}
