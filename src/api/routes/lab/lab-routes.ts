import { pattern, required } from '../../../schema/fields.js';
import { LAB_LIMITS, type LabQuestion } from '../../../twin/lab/lab-question.js';
import type { NamedUpload } from '../../../twin/lab/lab-uploads.js';
import type { ApiHost } from '../../api-host.js';
import { type ApiRoute, defineRoute, ok } from '../../api-route.js';
import { callerBusy, labBusy, notText } from '../../errors.js';
import type { Job } from '../../jobs/job-board.js';
import { JOB, jobView } from '../../views/job-views.js';
import { LAB_BODY, LAB_CHOICES, LAB_UPLOAD } from '../../views/lab-views.js';
import { workspaceIn } from './lab-workspace.js';

const LAB = '/api/v1/workspaces/{workspace}/lab';
/** They take a core for minutes, and replay who asked for what: more than a viewer needs. Viewers read the results, as jobs. */
const runs = { method: 'POST', role: 'operator', scope: 'workspace' } as const;

const FILE_NAME = pattern(
  /^[A-Za-z0-9_][A-Za-z0-9._-]*$/,
  'a file name of letters, digits, dots, dashes and underscores',
  80,
);

const EXAMPLE: LabQuestion = {
  traffic: { workload: 'rag', rate: 20, requests: 1000 },
  fleet: { model: 'qwen/qwen3-14b', replicas: 4 },
  policies: ['round-robin', 'lmetric'],
};

/** Experiments: policies compared on the same traffic and fleet, in simulation. Each is a job. */
export const LAB_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/lab/choices',
    role: 'viewer',
    scope: 'anywhere',
    summary:
      'List what an experiment can choose from: workloads, models, GPUs, policies with their options, and its limits',
    response: { type: 'object', schema: LAB_CHOICES },
    async handle() {
      const [{ LAB_LATENCY_MODELS, labChoices }, { labPolicies }] = await Promise.all([
        import('../../../twin/lab/lab-choices.js'),
        import('../../../twin/lab/lab-policies.js'),
      ]);
      const { kinds, policies, rates, replicas, requests, seeds, uploadBytes } = LAB_LIMITS;
      return ok({
        ...labChoices(),
        latency_models: LAB_LATENCY_MODELS,
        ...(await labPolicies()),
        limits: { policies, rates, kinds, seeds, replicas, requests, upload_bytes: uploadBytes },
      });
    },
  }),
  defineRoute({
    ...runs,
    path: `${LAB}/uploads`,
    status: 201,
    summary: `Upload a trace or a workload specification for experiments: text, at most ${LAB_LIMITS.uploadBytes} bytes; the last ${LAB_LIMITS.uploads} of a workspace are kept`,
    query: { name: required(FILE_NAME, { help: 'name of the file, as commands will have it' }) },
    body: { type: 'file', mostBytes: LAB_LIMITS.uploadBytes },
    response: { type: 'object', schema: LAB_UPLOAD },
    async handle(host, request) {
      const { body, query } = request;
      const workspace = await workspaceIn(host, request);
      if (body === '' || body.slice(0, LOOKED_AT).includes('\0') || body.startsWith('\u001f\ufffd')) throw notText();
      return { status: 201, body: await host.lab.uploads.put(workspace, query.name, body, uploadsInUse(host)) };
    },
  }),
  defineRoute({
    ...runs,
    path: `${LAB}/experiments`,
    status: 202,
    summary: 'Compare routing policies on the same traffic and fleet, in simulation: creates a job',
    body: { type: 'json', schema: LAB_BODY, example: EXAMPLE },
    response: { type: 'object', schema: JOB },
    async handle(host, request) {
      const { body, caller } = request;
      const { jobs } = host;
      const workspace = await workspaceIn(host, request);
      const open = jobs.list().filter((job) => isOpenLab(job) && job.workspace === workspace);
      if (open.length >= LAB_LIMITS.open) throw labBusy(workspace, open.length);
      const own = open.filter(({ actor, state }) => state === 'waiting' && actor === caller.name).length;
      if (own >= LAB_LIMITS.waitingOfOne) throw callerBusy(caller.name, own);
      const { labWork } = await import('./lab-work.js');
      const { commands, question, work } = labWork(host, workspace, body as LabQuestion);
      const endpoint = question.traffic.recording?.endpoint ?? '';
      const job = jobs.create(
        { kind: 'lab', workspace, endpoint, actor: caller.name, asked: question, commands },
        work,
      );
      return { status: 202, body: jobView(job, Date.now()) };
    },
  }),
];

/** Characters of an upload that are looked at before it is kept. */
const LOOKED_AT = 4096;

const isOpenLab = ({ kind, state }: Pick<Job, 'kind' | 'state'>) =>
  kind === 'lab' && (state === 'waiting' || state === 'running');

/** Those that experiments read, or will read when their turn comes. */
function uploadsInUse({ jobs }: ApiHost): NamedUpload[] {
  return jobs.list().flatMap((job) => {
    const { upload } = isOpenLab(job) ? (job.asked as LabQuestion).traffic : {};
    return upload === undefined ? [] : [{ workspace: job.workspace, id: upload.id }];
  });
}
