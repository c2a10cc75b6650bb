import { field, text } from '../../../schema/fields.js';
import { authorise } from '../../access/authorise.js';
import { type Caller, isEnough, roleIn } from '../../access/caller.js';
import type { ApiHost } from '../../api-host.js';
import { type ApiRoute, defineRoute, ok } from '../../api-route.js';
import { unknownJob } from '../../errors.js';
import type { Job } from '../../jobs/job-board.js';
import { PAGE_QUERY, pageOfAll } from '../../pagination.js';
import { JOB, JOB_WITH_RESULT, jobView } from '../../views/job-views.js';

/** Long work: what runs, how far it is, what came of it. Routes of endpoints create it. */
export const JOB_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/jobs',
    role: 'viewer',
    scope: 'each',
    summary:
      'List long work, the latest first: what-if questions, advice, guarded switches of a policy and experiments',
    query: {
      ...PAGE_QUERY,
      workspace: field(text(63), {
        help: 'only of this workspace; without it, of those in which the caller has a role',
      }),
      endpoint: field(text(), { help: 'only of endpoints of this name' }),
    },
    response: { type: 'list', schema: JOB },
    handle({ jobs }, { caller, query }) {
      const { endpoint, workspace } = query;
      if (workspace !== undefined) authorise(caller, { role: 'viewer', scope: 'workspace' }, workspace);
      const wanted = jobs
        .list()
        .filter(
          (one) =>
            sees(caller, one) &&
            (workspace === undefined || one.workspace === workspace) &&
            (endpoint === undefined || one.endpoint === endpoint),
        );
      const nowMs = Date.now();
      return ok(
        pageOfAll(
          'JobList',
          query,
          wanted,
          (one) => [-one.createdMs, one.id],
          (one) => jobView(one, nowMs),
        ),
      );
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/jobs/{id}',
    role: 'viewer',
    scope: 'each',
    summary: 'Return a job with its progress and, once it is done, its result',
    response: { type: 'object', schema: JOB_WITH_RESULT },
    handle(host, { caller, params }) {
      const job = jobOf(host, caller, params.id!);
      return ok({ ...jobView(job, Date.now()), result: job.result });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/jobs/{id}/events',
    role: 'viewer',
    scope: 'each',
    summary: 'Stream a job after each change until it has ended',
    response: { type: 'stream' },
    handle(host, { caller, params, signal }) {
      const { id } = jobOf(host, caller, params.id!);
      return { status: 200 as const, stream: jobStream(host.jobs.follow(id, signal)) };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/jobs/{id}',
    role: 'operator',
    scope: 'each',
    summary: 'Cancel a job; one that changed something has undone it when this returns',
    response: { type: 'object', schema: JOB },
    async handle(host, { caller, params }) {
      const job = jobOf(host, caller, params.id!);
      authorise(caller, { role: 'operator', scope: 'workspace' }, job.workspace);
      await host.jobs.cancel(job.id);
      return ok(jobView(job, Date.now()));
    },
  }),
];

/** A job of a workspace in which the caller has no role does not exist for it. */
function jobOf({ jobs }: ApiHost, caller: Caller, id: string): Job {
  const job = jobs.get(id);
  if (job === undefined || !sees(caller, job)) throw unknownJob(id);
  return job;
}

function sees(caller: Caller, { workspace }: Job): boolean {
  return isEnough(roleIn(caller, workspace), 'viewer');
}

async function* jobStream(changes: AsyncIterable<Job>): AsyncGenerator<string> {
  for await (const job of changes) yield `event: job\ndata: ${JSON.stringify(jobView(job, Date.now()))}\n\n`;
  yield 'event: end\ndata: {}\n\n';
}
