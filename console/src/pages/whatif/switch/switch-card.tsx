import { getRouteApi } from '@tanstack/react-router';
import { isOpenJob, type Job, useJob } from '../../../api/jobs';
import { Badge, Button, Card, type Tone } from '../../../parts/basics';
import { JobProgress } from '../../../parts/job-progress';
import { Failure } from '../../../parts/states';
import { guardText, type SwitchResult } from './guard';

const route = getRouteApi('/whatif');
const STAGES = { measuring: 'Measuring the policy in force, seconds', watching: 'Watching, seconds' };

const OUTCOMES: Readonly<Record<SwitchResult['outcome'], readonly [Tone, string]>> = {
  kept: ['good', 'kept'],
  returned: ['warn', 'went back'],
  superseded: ['idle', 'left alone'],
};

/** The switch that the address names, else one of the endpoint that is being watched. A reload of the page finds it again. */
export function switchInView(wanted: string | undefined, jobs: readonly Job[]): string | undefined {
  return wanted ?? jobs.find((job) => job.kind === 'switch' && isOpenJob(job))?.id;
}

/** A guarded switch of the policy: how far its watch is, and what came of it. */
export function SwitchCard({ id }: { readonly id: string }) {
  const navigate = route.useNavigate();
  const { error, job } = useJob<SwitchResult>(id);
  const isOver = error !== null || (job !== undefined && !isOpenJob(job));
  const close = (
    <Button
      look="quiet"
      onClick={() => void navigate({ search: (before) => ({ ...before, switch: undefined }), replace: true })}
    >
      Close
    </Button>
  );
  return (
    <Card title={job === undefined ? 'Switch' : switchTitle(job)} actions={isOver ? close : null}>
      <div className="padded">
        {error === null ? null : error.status === 404 ? (
          <p role="status">
            The gateway has started again since: a switch that was being watched then has gone back to the former
            policy. The events of the endpoint tell.
          </p>
        ) : (
          <Failure error={error} />
        )}
        {job === undefined ? null : <SwitchState job={job} />}
      </div>
    </Card>
  );
}

interface AskedSwitch {
  readonly policy: { readonly policy?: string; readonly routing?: { readonly policy: string } };
  readonly guard: { readonly metric: string; readonly most: number };
  readonly watch?: string;
}

const askedOf = ({ asked }: Pick<Job, 'asked'>) => asked as unknown as AskedSwitch;

export function switchTitle(job: Pick<Job, 'asked'>): string {
  const { guard, policy, watch = '10m' } = askedOf(job);
  const name = policy.policy ?? policy.routing?.policy ?? 'another policy';
  return `Switch to ${name}: ${guardText(guard.metric, guard.most, watch)}`;
}

function SwitchState({ job }: { readonly job: Job<SwitchResult> }) {
  if (isOpenJob(job)) return <JobProgress job={job} stages={STAGES} cancelLabel="Go back now" />;
  if (job.state === 'cancelled') return <p role="status">Cancelled: the former policy is served again.</p>;
  if (job.error !== null) {
    return (
      <div className="failure" role="alert">
        <p>
          <strong>{job.error.message}</strong> <span className="failure-hint">{job.error.hint}</span>
        </p>
      </div>
    );
  }
  const { result } = job;
  if (result === null || result === undefined) return null;
  const [tone, word] = OUTCOMES[result.outcome];
  return (
    <p role="status">
      <Badge tone={tone}>{word}</Badge> {result.reason}
      {result.outcome === 'kept' ? `, over ${result.requests} requests` : ''}.
    </p>
  );
}
