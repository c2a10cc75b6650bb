import * as v from 'valibot';
import { section } from '../../schema/fields.js';
import { JOB_STATES, type Job } from '../jobs/job-board.js';
import { described, maybe, naturalNumber, nullable, numeric, openMap, string } from './parts.js';

const PROGRESS = section('JobProgress', {
  stage: described(string, 'what it does at present'),
  done: described(numeric, 'steps of this stage that are done'),
  total: described(numeric, 'all steps of this stage; 0 when unknown'),
  detail: maybe(string, 'what is known so far, in words'),
});

const FAILURE = section('JobFailure', {
  code: described(string, 'stable code of the error'),
  message: described(string, 'what went wrong'),
  hint: described(string, 'what to do; may be empty'),
});

const job = {
  id: described(string, 'id of the job'),
  kind: described(string, 'whatif, advice, plan, switch or lab'),
  workspace: described(string, 'its workspace'),
  endpoint: described(string, 'name of its endpoint; empty where it has none'),
  asked: described(openMap, 'the body of the request that created it'),
  commands: described(v.array(string), 'commands that do the same, one after the other; empty where none does'),
  created_by: described(string, 'who created it'),
  created_at: described(string, 'time of creation'),
  started_at: described(nullable(string), 'when it started; null while it waits'),
  ended_at: described(nullable(string), 'when it ended; null before'),
  duration_s: described(nullable(naturalNumber), 'seconds that it took, or has taken; null while it waits'),
  state: described(v.picklist(JOB_STATES), 'waiting for its turn, running, or how it ended'),
  progress: described(PROGRESS, 'how far it is'),
  error: described(nullable(FAILURE), 'why it failed; null when it did not'),
};

export const JOB = section('Job', job);

export const JOB_WITH_RESULT = section('JobWithResult', {
  ...job,
  result: described(nullable(openMap), 'the document of a job that is done; null before'),
});

const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

export function jobView({ actor, createdMs, endedMs, result: _, startedMs, ...job }: Job, nowMs: number) {
  return {
    ...{ id: job.id, kind: job.kind, workspace: job.workspace, endpoint: job.endpoint },
    ...{ asked: job.asked, commands: job.commands, created_by: actor },
    ...{ created_at: timeOf(createdMs)!, started_at: timeOf(startedMs), ended_at: timeOf(endedMs) },
    duration_s: startedMs === null ? null : Math.max(0, Math.round(((endedMs ?? nowMs) - startedMs) / 1000)),
    ...{ state: job.state, progress: job.progress, error: job.error },
  };
}
