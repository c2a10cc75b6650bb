import { useMay } from '../api/access';
import { isOpenJob, type Job } from '../api/jobs';
import { useChange } from '../api/queries';
import { Badge, Bar, Button, type Tone } from './basics';
import { Failure } from './states';

const STATES: Readonly<Record<Job['state'], Tone>> = {
  waiting: 'idle',
  running: 'info',
  done: 'good',
  failed: 'bad',
  cancelled: 'idle',
};

export function JobState({ job }: { readonly job: Job }) {
  return <Badge tone={STATES[job.state]}>{job.state}</Badge>;
}

interface JobProgressProps {
  readonly job: Job;
  /** What its stages do, in words. */
  readonly stages: Readonly<Record<string, string>>;
  /** On the button that cancels it. */
  readonly cancelLabel?: string;
}

/** How far a job is, with the way to cancel it. */
export function JobProgress({ cancelLabel = 'Cancel', job, stages }: JobProgressProps) {
  const mayCancel = useMay('operator', job.workspace);
  const cancel = useChange();
  if (!isOpenJob(job)) return null;
  const { detail, done, stage, total } = job.progress;
  const words = job.state === 'waiting' ? 'Waiting for other jobs to end' : (stages[stage] ?? stage);
  const amount = total > 0 ? `${done} of ${total}` : done > 0 ? `${done} done` : '';
  return (
    <div className="job-progress">
      <p role="status">
        {words}
        {amount === '' ? '…' : `: ${amount}`}
        {detail === undefined ? null : <span className="muted"> {detail}</span>}
      </p>
      {total > 0 ? <Bar share={done / total} /> : <span className="spinner" aria-hidden="true" />}
      {mayCancel ? (
        <Button
          disabled={cancel.isPending}
          onClick={() => cancel.mutate({ method: 'DELETE', path: `jobs/${encodeURIComponent(job.id)}` })}
        >
          {cancelLabel}
        </Button>
      ) : null}
      {cancel.error === null ? null : <Failure error={cancel.error} />}
    </div>
  );
}
