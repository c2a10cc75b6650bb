import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { pathOf, withQuery } from '../../api/client';
import { isOpenJob, type Job, useJob } from '../../api/jobs';
import { useGet, useSession } from '../../api/queries';
import type { Page } from '../../api/types';
import { PageHead } from '../../parts/basics';
import { JobProgress } from '../../parts/job-progress';
import { OtherQuestion } from '../../parts/other-question';
import { ownWorkspace } from '../../parts/own-workspace';
import { Empty, Failure, Loading } from '../../parts/states';
import type { LabSearch } from '../../shell/router';
import { LabForm } from './form/lab-form';
import { inWords, isSameExperiment, searchOf } from './form/lab-question';
import type { LabChoices, LabResult, SavedRun } from './lab-document';
import { RecentRuns } from './recent-runs';
import { type FinishedRun, LabResults } from './results/lab-results';
import { SavedRuns } from './saved-runs';
import '../../styles/editor.css';
import '../../styles/lab.css';

const route = getRouteApi('/lab');
const STAGES = { reading: 'Reading the traffic', simulating: 'Simulating' };
const KEPT = 20;

/** Policies compared on the same traffic and fleet, in simulation. The address has the whole experiment. */
export function LabPage() {
  const search = route.useSearch();
  const { data: session } = useSession();
  const workspace = search.workspace ?? ownWorkspace(session, 'operator');
  const { data: choices, error, refetch } = useGet<LabChoices>('lab/choices');
  const runs = useGet<Page<Job>>(withQuery('jobs', { workspace, limit: 100 }), { everyMs: 5000 });
  const followed = useJob<LabResult>(search.job);
  const { job } = followed;
  const state = job?.state;
  const { refetch: listAgain } = runs;
  const place = useRef<HTMLDivElement>(null);
  // A run that was started here is below the form: it comes into view, and so does its result.
  const isOpen = job !== undefined && isOpenJob(job);
  const hasResult = job?.result != null;
  const isFollowed = useRef(false);
  useEffect(() => {
    if (isOpen) isFollowed.current = true;
    if (isFollowed.current) place.current?.scrollIntoView({ block: 'start' });
    if (hasResult) isFollowed.current = false;
  }, [isOpen, hasResult]);
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
          The gateway keeps the last runs until it restarts, and saved ones for good. Run it again: the same inputs give
          the same bytes.
        </Empty>
      ) : (
        <Failure error={followed.error} onRetry={() => void followed.refetch()} />
      )}
      {job === undefined ? null : (
        <div ref={place} className="lab-outcome">
          <Outcome job={job} />
        </div>
      )}
      {search.saved === undefined ? null : <Saved workspace={workspace} id={search.saved} />}
      <SavedRuns workspace={workspace} />
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
  const { asked, commands, created_at, id, workspace } = job;
  return <Results run={{ asked, commands, workspace, job: id, ranAt: created_at }} at={{ job: id }} result={result} />;
}

interface ResultsProps {
  readonly run: Omit<FinishedRun, 'address'>;
  /** What its address has besides the experiment. */
  readonly at: Pick<LabSearch, 'job' | 'saved'>;
  readonly result: LabResult;
}

/** A result, and whether it is that of the form. */
function Results({ at, result, run }: ResultsProps) {
  const search = route.useSearch();
  const { chart, file, load, measure } = search;
  const own = { ...searchOf(run.asked, file), ...at, chart, load, measure, workspace: run.workspace };
  const address = { to: '/lab', search: own } as const;
  return (
    <>
      {isSameExperiment(search, run.asked) ? null : (
        <OtherQuestion what="experiment" asked={inWords(run.asked)} address={address} />
      )}
      <LabResults run={{ ...run, address }} result={result} />
    </>
  );
}

/** A result that was saved under a name. */
function Saved({ id, workspace }: { readonly id: string; readonly workspace: string }) {
  const path = `workspaces/${pathOf(workspace, 'lab', 'results', id)}`;
  const { data, error, refetch } = useGet<SavedRun>(path, { isFixed: true });
  if (error?.status === 404)
    return <Empty title="This result is not saved any more">Run it again: the same inputs give the same bytes.</Empty>;
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data?.result === undefined) return <Loading />;
  const { asked, commands, name, ran_at, result, saved_by } = data;
  return (
    <>
      <h2 className="lab-saved">
        {name} <span className="muted">saved by {saved_by}</span>
      </h2>
      <Results run={{ asked, commands, workspace, ranAt: ran_at }} at={{ saved: id }} result={result} />
    </>
  );
}
