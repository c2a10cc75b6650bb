import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiFailure, withQuery } from '../../api/client';
import { type Job, useJob } from '../../api/jobs';
import { useLive } from '../../api/live';
import { useGet } from '../../api/queries';
import type { Page } from '../../api/types';
import { PageHead } from '../../parts/basics';
import { AsCommand } from '../../parts/command';
import { quoted } from '../../parts/commands';
import type { PageAddress } from '../../parts/copy-link';
import { JobProgress } from '../../parts/job-progress';
import { OtherQuestion } from '../../parts/other-question';
import { Empty, Failure, Loading } from '../../parts/states';
import type { Advice, FleetPlan, WhatIf } from './documents';
import { EarlierQuestions, inWords, isQuestion } from './earlier-questions';
import { useStandardQueue } from './form/flow-fields';
import { QuestionForm } from './form/question-form';
import { bodyOf, QUESTIONS, type Question, searchOf } from './question';
import { AdviceResult } from './results/advice-result';
import { PlanResult } from './results/plan-result';
import { WhatIfResult } from './results/whatif-result';
import { isSameQuestion } from './same-question';
import { SwitchCard, switchInView } from './switch/switch-card';
import '../../styles/whatif.css';

const route = getRouteApi('/whatif');

const ALL = Object.keys(QUESTIONS) as Question[];

const STAGES = {
  reading: 'Reading the recording',
  fitting: 'Fitting step times to the recording',
  checking: 'Simulating the recording as it was',
  simulating: 'Simulating',
};

const ABOUT: Readonly<Record<Question, string>> = {
  whatif: 'Recorded traffic as it was, and as it would have been with another policy or fleet',
  advice: 'The best policy for recorded traffic, what is gained, and what the switch costs',
  plan: 'The least fleet that keeps latencies within limits',
};

export function WhatIfPage() {
  const search = route.useSearch();
  const endpoints = useLive(({ traffic }) => traffic)?.items;
  const [first] = endpoints ?? [];
  const question = search.ask ?? 'whatif';
  const workspace = search.workspace ?? first?.workspace;
  const endpoint = search.endpoint ?? first?.name;
  return (
    <>
      <PageHead title="What-if and plan" about={ABOUT[question]} />
      <nav className="tabs" aria-label="Questions">
        {ALL.map((one) => (
          <Link
            key={one}
            to="/whatif"
            search={(before) => ({
              ...{ ...before, ask: one === 'whatif' ? undefined : one, job: undefined, to: undefined },
              // A plan has one policy.
              ...(one === 'plan' ? { policy: undefined } : {}),
            })}
            className="tab"
            aria-current={one === question ? 'page' : undefined}
            // What if has fewer parameters than the others: it would count as active with them.
            activeOptions={{ exact: true, includeSearch: true, explicitUndefined: true }}
          >
            {QUESTIONS[one]}
          </Link>
        ))}
      </nav>
      {workspace !== undefined && endpoint !== undefined ? (
        <Asked question={question} workspace={workspace} endpoint={endpoint} />
      ) : endpoints === undefined ? (
        <Loading />
      ) : (
        <Empty title="No endpoint yet" command="twinyard apply -f examples/endpoints/emulated.yaml">
          Questions are about the recorded traffic of an endpoint.
        </Empty>
      )}
    </>
  );
}

interface AskedProps {
  readonly question: Question;
  readonly workspace: string;
  readonly endpoint: string;
}

function Asked({ endpoint, question, workspace }: AskedProps) {
  const search = route.useSearch();
  const { error, job, refetch } = useJob<WhatIf | Advice | FleetPlan>(search.job);
  const { data: earlier } = useGet<Page<Job>>(withQuery('jobs', { workspace, endpoint, limit: 20 }), { everyMs: 5000 });
  const url = `${location.origin}/api/v1/workspaces/${workspace}/endpoints/${endpoint}/${question}`;
  const body = JSON.stringify(bodyOf(question, search));
  const call = `curl -X POST ${quoted(url)} -H "authorization: Bearer $TWINYARD_TOKEN" -d ${quoted(body)}`;
  const commands = (job?.commands ?? []).map(here);
  const switched = switchInView(search.switch, earlier?.items ?? []);
  const navigate = route.useNavigate();
  // What becomes of a switch that was found here stays in view when it has ended.
  useEffect(() => {
    if (switched === undefined || switched === search.switch) return;
    void navigate({ search: (before) => ({ ...before, switch: switched }), replace: true });
  }, [navigate, search.switch, switched]);
  return (
    <>
      {switched === undefined ? null : <SwitchCard id={switched} />}
      <QuestionForm question={question} workspace={workspace} endpoint={endpoint} job={job} />
      {error === null ? null : (
        <Failure error={error.status === 404 ? NOT_KEPT : error} onRetry={() => void refetch()} />
      )}
      {job === undefined ? (
        search.job !== undefined && error === null ? (
          <Loading />
        ) : null
      ) : (
        <>
          <Belongs job={job} question={question} called={`${workspace}/${endpoint}`} />
          <Outcome job={job} />
        </>
      )}
      <AsCommand commands={commands.length === 0 ? [call] : commands} />
      <EarlierQuestions jobs={earlier?.items ?? []} />
    </>
  );
}

/** The address that asks what a job was asked, with its result. */
function useAddressOf({ asked, endpoint, id, kind, workspace }: Job): PageAddress {
  const search = route.useSearch();
  const own = isQuestion(kind) ? searchOf(kind, asked) : {};
  return { to: '/whatif', search: { ...own, workspace, endpoint, job: id, switch: search.switch } };
}

interface BelongsProps {
  readonly job: Job;
  readonly question: Question;
  /** workspace/name */
  readonly called: string;
}

/** Says so where the result in view is not that of the question in the form. */
function Belongs({ called, job, question }: BelongsProps) {
  const search = route.useSearch();
  const address = useAddressOf(job);
  const queue = useStandardQueue();
  if (queue === null) return null;
  const isOfEndpoint = `${job.workspace}/${job.endpoint}` === called;
  const isSame = job.kind === question && isOfEndpoint && isSameQuestion(question, search, job.asked, queue);
  if (isSame) return null;
  const asked = `${isOfEndpoint ? '' : `${job.workspace}/${job.endpoint}: `}${inWords(job)}`;
  return <OtherQuestion what="question" asked={asked} address={address} />;
}

const NOT_KEPT = new ApiFailure(
  404,
  'API_JOB',
  'the result of this link is not kept any more: the last 50 of a workspace are, until the gateway stops',
  'the question is filled in: ask it again',
);

/** With the address by which this browser reaches the gateway. */
const here = (command: string) => command.replace(/(--gateway|--server) \S+/, `$1 ${location.origin}`);

function Outcome({ job }: { readonly job: Job<WhatIf | Advice | FleetPlan> }) {
  const called = `${job.workspace}/${job.endpoint}`;
  const address = useAddressOf(job);
  if (job.state === 'failed' && job.error !== null) {
    const { code, hint, message } = job.error;
    return (
      <>
        <Failure error={new ApiFailure(422, code, message, hint)} />
        {code === 'WHATIF_TOO_FEW' ? (
          <p className="muted">The recording grows with every request: ask again in a while.</p>
        ) : null}
      </>
    );
  }
  if (job.state === 'cancelled') return <p className="verdict verdict-refused">The question was cancelled.</p>;
  const { result } = job;
  if (result === null || result === undefined) return <JobProgress job={job} stages={STAGES} />;
  if (job.kind === 'advice') return <AdviceResult called={called} address={address} result={result as Advice} />;
  if (job.kind === 'plan') return <PlanResult address={address} result={result as FleetPlan} />;
  return <WhatIfResult called={called} asked={job.asked} address={address} result={result as WhatIf} />;
}
