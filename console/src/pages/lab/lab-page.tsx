import { getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import { withQuery } from '../../api/client';
import { type Job, useJob } from '../../api/jobs';
import { useGet, useSession } from '../../api/queries';
import type { Page, Role, Session } from '../../api/types';
import { PageHead } from '../../parts/basics';
import { JobProgress } from '../../parts/job-progress';
import { Empty, Failure, Loading } from '../../parts/states';
import type { LabChoices, LabResult } from './lab-document';
import { LabForm } from './lab-form';
import { LabResults } from './lab-results';
import { RecentRuns } from './recent-runs';
import '../../styles/lab.css';

const route = getRouteApi('/lab');
const STAGES = { reading: 'Reading the traffic', simulating: 'Simulating' };
const KEPT = 20;

/** Policies compared on the same traffic and fleet, in simulation. The address has the whole experiment. */
export function LabPage() {
  const search = route.useSearch();
  const { data: session } = useSession();
  const workspace = search.workspace ?? ownWorkspace(session ?? null);
  const { data: choices, error, refetch } = useGet<LabChoices>('lab/choices');
  const runs = useGet<Page<Job>>(withQuery('jobs', { workspace, limit: 100 }), { everyMs: 5000 });
  const followed = useJob<LabResult>(search.job);
  const { job } = followed;
  const state = job?.state;
  const { refetch: listAgain } = runs;
  // With each new state of the run in view.
  useEffect(() => void listAgain(), [listAgain, state]);
  if (choices === undefined)
    return error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />;
  return (
    <>
      <PageHead
        title="Lab"
        about="Policies compared on the same traffic and fleet, in simulation: nothing live changes."
      />
      <LabForm workspace={workspace} choices={choices} job={job} />
      {followed.error === null ? null : followed.error.status === 404 ? (
        <Empty title="This run is not kept any more">
          The gateway keeps the last runs until it restarts. Run it again: the same inputs give the same bytes.
        </Empty>
      ) : (
        <Failure error={followed.error} onRetry={() => void followed.refetch()} />
      )}
      {job === undefined ? null : <Outcome job={job} />}
      <RecentRuns jobs={(runs.data?.items ?? []).filter(({ kind }) => kind === 'lab').slice(0, KEPT)} />
    </>
  );
}

function Outcome({ job }: { readonly job: Job<LabResult> }) {
  const { error, result, state } = job;
  if (state === 'failed') {
    return (
      <div className="failure" role="alert">
        <p>
          <strong>{error?.message}</strong> <span className="failure-hint">{error?.hint}</span>
        </p>
      </div>
    );
  }
  if (state === 'cancelled') return <Empty title="Cancelled">Change the experiment, or run it again.</Empty>;
  if (result === null || result === undefined) return <JobProgress job={job} stages={STAGES} />;
  return <LabResults job={job} result={result} />;
}

const MAY_RUN: readonly Role[] = ['operator', 'admin'];

/** The workspace in which the visitor can run experiments; the one that they see where there is none. */
function ownWorkspace(session: Session | null): string {
  if (session === null || session.role !== 'none') return 'default';
  const own = Object.entries(session.workspaces);
  return (own.find(([, role]) => MAY_RUN.includes(role)) ?? own[0])?.[0] ?? 'default';
}
