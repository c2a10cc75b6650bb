import type { ReactNode } from 'react';
import type { Job } from '../api/jobs';
import { TablePlace } from './basics';
import { JobState } from './job-progress';
import { Time } from './time';

interface JobTableProps {
  readonly name: string;
  /** What the jobs are about: the title of the column. */
  readonly about: string;
  readonly jobs: readonly Job[];
  /** The job in words, as a link that opens it. */
  readonly link: (job: Job) => ReactNode;
}

/** Jobs with who asked and how far they are. */
export function JobTable({ about, jobs, link, name }: JobTableProps) {
  return (
    <TablePlace name={name}>
      <table className="table table-dense">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">{about}</th>
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
              <td>{link(job)}</td>
              <td className="muted">{job.created_by}</td>
              <td>
                <JobState job={job} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TablePlace>
  );
}
