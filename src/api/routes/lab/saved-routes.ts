import { randomUUID } from 'node:crypto';
import type { SavedResult } from '../../../store/lab/saved-results.js';
import { LAB_LIMITS } from '../../../twin/lab/lab-question.js';
import type { LabResult } from '../../../twin/lab/lab-task.js';
import { type ApiRoute, defineRoute, ok } from '../../api-route.js';
import { notSavable, unknownJob, unknownSaved } from '../../errors.js';
import { auditChange } from '../../gateway/audit-change.js';
import { keyIn, PAGE_QUERY, pageOf } from '../../pagination.js';
import { SAVE_BODY, SAVED_RESULT, SAVED_WITH_RESULT } from '../../views/lab-views.js';
import { workspaceIn } from './lab-workspace.js';

const RESULTS = '/api/v1/workspaces/{workspace}/lab/results';
const reads = { method: 'GET', role: 'viewer', scope: 'workspace' } as const;

/** What a list shows of a saved experiment. */
interface SavedFacts {
  readonly ranAt: string;
  readonly verdict: string;
  readonly asked: object;
  readonly commands: readonly string[];
}

/** Results of experiments under a name: in the store, for as long as no operator deletes them. */
export const SAVED_LAB_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    ...reads,
    path: RESULTS,
    summary: 'List the saved results of experiments, the latest first',
    query: PAGE_QUERY,
    response: { type: 'list', schema: SAVED_RESULT },
    async handle(host, request) {
      const { store } = host;
      const { query } = request;
      const after = keyIn(query, [0, '']);
      const before = after === null ? null : { savedAt: after[0], id: after[1] };
      const read = await store.lab.list(await workspaceIn(host, request), before, query.limit + 1);
      return ok(pageOf('SavedLabResultList', query, read, ({ id, savedAt }) => [savedAt, id], savedView));
    },
  }),
  defineRoute({
    ...reads,
    path: `${RESULTS}/{id}`,
    summary: 'Return a saved result of an experiment',
    response: { type: 'object', schema: SAVED_WITH_RESULT },
    async handle(host, request) {
      const { id } = request.params;
      const { store } = host;
      const found = await store.lab.get(await workspaceIn(host, request), id!);
      if (found === null) throw unknownSaved(id!);
      return ok({ ...savedView(found.saved), result: found.result });
    },
  }),
  defineRoute({
    method: 'POST',
    role: 'operator',
    scope: 'workspace',
    path: RESULTS,
    status: 201,
    summary: `Save the result of an experiment under a name; a workspace keeps ${LAB_LIMITS.saved}`,
    body: {
      type: 'json',
      schema: SAVE_BODY,
      example: { job: '0b9c7a52-6a1e-4a55-9d2f-1f2b7c3d4e5f', name: 'before the sale' },
    },
    response: { type: 'object', schema: SAVED_RESULT },
    async handle(host, request) {
      const { body, caller } = request;
      const { jobs, store } = host;
      const workspace = await workspaceIn(host, request);
      const job = jobs.get(body.job);
      if (job === undefined || job.kind !== 'lab' || job.workspace !== workspace) throw unknownJob(body.job);
      if (job.result === null) throw notSavable(job.id, job.state);
      const facts: SavedFacts = {
        ...{ ranAt: new Date(job.createdMs).toISOString(), verdict: (job.result as LabResult).verdict },
        ...{ asked: job.asked, commands: job.commands },
      };
      const saved = {
        ...{ id: randomUUID(), workspace: job.workspace, name: body.name, savedBy: caller.name, facts },
        savedAt: await store.now(),
      };
      await store.lab.add(saved, job.result, LAB_LIMITS.saved);
      await auditChange(host, caller.name, {
        ...changeOf(saved),
        action: 'create',
        before: null,
        after: factsOf(saved),
      });
      return { status: 201, body: savedView(saved) };
    },
  }),
  defineRoute({
    method: 'DELETE',
    role: 'operator',
    scope: 'workspace',
    path: `${RESULTS}/{id}`,
    summary: 'Delete a saved result of an experiment',
    response: { type: 'object', schema: SAVED_RESULT },
    async handle(host, request) {
      const { caller, params } = request;
      const { store } = host;
      const workspace = await workspaceIn(host, request);
      const found = await store.lab.get(workspace, params.id!);
      if (found === null || !(await store.lab.delete(workspace, params.id!))) throw unknownSaved(params.id!);
      const { saved } = found;
      await auditChange(host, caller.name, {
        ...changeOf(saved),
        action: 'delete',
        before: factsOf(saved),
        after: null,
      });
      return ok(savedView(saved));
    },
  }),
];

const changeOf = ({ id, workspace }: SavedResult) => ({ kind: 'LabResult' as const, workspace, name: id });
const factsOf = ({ name, savedBy }: SavedResult) => ({ name, savedBy });

function savedView({ facts, id, name, savedAt, savedBy, workspace }: SavedResult) {
  const { asked, commands, ranAt, verdict } = facts as SavedFacts;
  return {
    ...{ id, name, workspace, saved_by: savedBy, saved_at: new Date(savedAt).toISOString() },
    ...{ ran_at: ranAt, verdict, asked, commands },
  };
}
