import { Link } from '@tanstack/react-router';
import type { Job } from '../../api/jobs';
import { Card } from '../../parts/basics';
import { JobTable } from '../../parts/job-table';
import { Empty } from '../../parts/states';
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
        <JobTable
          name="Recent runs"
          about="Experiment"
          jobs={jobs}
          link={({ asked, id, workspace }) => (
            <Link to="/lab" search={{ ...searchOf(asked), workspace, job: id }}>
              {inWords(asked)}
            </Link>
          )}
        />
      )}
    </Card>
  );
}
