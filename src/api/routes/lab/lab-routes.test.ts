import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LAB_LIMITS } from '../../../twin/lab/lab-question.js';
import type { LabResult, LabTask } from '../../../twin/lab/lab-task.js';
import { LabUploads } from '../../../twin/lab/lab-uploads.js';
import { ApiHost } from '../../api-host.js';
import { caller } from '../../fake-api.fixture.js';
import { JobBoard } from '../../jobs/job-board.js';
import { respond } from '../../respond.js';

// biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
type Body = any;

const LAB = 'workspaces/default/lab';
const OPERATOR = caller('none', { default: 'operator' });
const QUESTION = {
  traffic: { workload: 'rag', rate: 20 },
  fleet: { model: 'qwen/qwen3-14b', replicas: 4 },
  policies: ['round-robin', 'lmetric'],
};

let uploads: LabUploads;
let jobs: JobBoard;
let tasks: LabTask[];
/** What the runner does with a task. */
let run: (task: LabTask, signal: AbortSignal) => Promise<object>;

beforeEach(() => {
  uploads = new LabUploads();
  jobs = new JobBoard();
  tasks = [];
  run = async () => ({ verdict: 'same' });
});
afterEach(async () => {
  await jobs.close();
  uploads.close();
});

async function ask(line: string, body: unknown = '', as = OPERATOR): Promise<{ status: number; body: Body }> {
  const [method, url] = line.split(' ') as [string, string];
  const [path, query] = url.split('?');
  const lab = {
    uploads,
    run: (task: LabTask, { signal }: { signal: AbortSignal }) => {
      tasks.push(task);
      return run(task, signal) as Promise<LabResult>;
    },
  };
  const host = new ApiHost({ store: null, gateway: null, control: null, jobs, lab });
  const response = await respond(host, as, {
    ...{ method, path: `/api/v1/${path}`, query: new URLSearchParams(query), header: () => undefined },
    body: async () => (typeof body === 'string' ? body : JSON.stringify(body)),
    signal: new AbortController().signal,
  });
  return response as { status: number; body: Body };
}

const experiment = (changes: object = {}, as = OPERATOR) =>
  ask(`POST ${LAB}/experiments`, { ...QUESTION, ...changes }, as);
const ended = async (id: string) => {
  for await (const _ of jobs.follow(id, new AbortController().signal));
  return jobs.get(id)!;
};

describe('experiments', () => {
  it('are run by operators of the workspace, and read by its viewers alone', async () => {
    const viewer = caller('none', { default: 'viewer' });
    const stranger = caller('none', { other: 'admin' });
    for (const as of [viewer, stranger]) {
      expect((await experiment({}, as)).status).toBe(403);
      expect((await ask(`POST ${LAB}/uploads?name=a.jsonl`, '{}', as)).status).toBe(403);
    }
    const { body, status } = await experiment();
    expect([status, body.kind, body.asked]).toEqual([202, 'lab', QUESTION]);
    await ended(body.id);
    expect((await ask(`GET jobs/${body.id}`, '', viewer)).body.result).toEqual({ verdict: 'same' });
    expect((await ask(`GET jobs/${body.id}`, '', stranger)).status).toBe(404);
    expect((await ask(`DELETE jobs/${body.id}`, '', viewer)).status).toBe(403);
    expect((await ask('GET lab/choices', '', viewer)).body.workloads).toContain('rag');
    expect((await ask('GET lab/choices', '', caller('none'))).status).toBe(403);
  });

  it('are the arguments of compare', async () => {
    const more = { seeds: 2, slo_ttft_ms: 500, signal_age_ms: 250 };
    await ended(
      (await experiment({ ...more, policies: ['round-robin', 'weighted:queue-depth:1+kv-utilization:2'] })).body.id,
    );
    expect(tasks[0]).toEqual({
      input: null,
      argv: [
        ...['--workload', 'rag', '--rate', '20', '--num-requests', '1000', '--model', 'qwen/qwen3-14b'],
        ...['--num-instances', '4', '--routing-policy', 'round-robin,weighted:queue-depth:1+kv-utilization:2'],
        ...['--snapshot-refresh-interval', '250000', '--slo-ttft', '500ms', '--seeds', '2'],
      ],
    });
  });

  it.each([
    [{ traffic: {} }, 'has no source'],
    [{ traffic: { workload: 'rag', recording: { endpoint: 'chat' } } }, 'has two sources'],
    [{ traffic: { workload: 'none' } }, "unknown value 'none'"],
    [{ traffic: { workload: 'rag', requests: LAB_LIMITS.requests + 1 } }, 'traffic.requests'],
    [{ traffic: { upload: { id: 'a'.repeat(64), format: 'trace' }, rate: 2 } }, 'a trace has its own requests'],
    [{ traffic: { upload: { id: '../../etc/passwd', format: 'trace' } } }, 'traffic.upload.id'],
    [{ policies: ['lmetric'] }, 'policies'],
    [{ policies: ['lmetric', 'lmetric'] }, 'has one twice'],
    [{ policies: ['lmetric', 'lmetrik'] }, 'lmetrik'],
    [{ policies: ['lmetric', '--report=/tmp/x'] }, 'policies'],
    [{ policies: ['lmetric', 'round-robin:queue-depth:1'] }, 'scorers'],
    [{ policies: ['lmetric', 'weighted:none:1'] }, 'none'],
    [{ policies: Array.from({ length: LAB_LIMITS.policies + 1 }, (_, i) => `p${i}`) }, 'policies'],
    [{ fleet: { model: '../../../etc' } }, 'fleet.model'],
    [{ fleet: { model: 'qwen/none' } }, 'is not in the catalogue'],
    [{ fleet: { model: '--config' } }, 'fleet.model'],
    [{ fleet: { model: 'qwen/qwen3-14b', hardware: 'TPU' } }, 'is not in the catalogue'],
    [{ fleet: { model: 'qwen/qwen3-14b', replicas: LAB_LIMITS.replicas + 1 } }, 'fleet.replicas'],
    [{ seeds: LAB_LIMITS.seeds + 1 }, 'seeds'],
    [{ report: '/tmp/x' }, 'report'],
  ])('are refused at once: %j', async (changes, problem) => {
    const { body, status } = await experiment(changes);
    expect([status, `${body.error.message}; ${body.error.hint}`]).toEqual([400, expect.stringContaining(problem)]);
    expect(jobs.list()).toEqual([]);
  });

  it('wait in a line of a few for each workspace', async () => {
    run = (_, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cancelled'))));
    const created = [];
    for (let i = 0; i < LAB_LIMITS.open; i++) created.push((await experiment()).body.id);
    const refused = await experiment();
    expect([refused.status, refused.body.error.code]).toEqual([429, 'API_JOBS_FULL']);
    const other = caller('none', { other: 'operator' });
    expect((await ask('POST workspaces/other/lab/experiments', QUESTION, other)).status).toBe(202);
    expect((await ask(`DELETE jobs/${created[0]}`)).body.state).toBe('cancelled');
    expect((await experiment()).status).toBe(202);
  });
});

describe('uploads', () => {
  const upload = (name: string, content: string) =>
    ask(`POST ${LAB}/uploads?name=${encodeURIComponent(name)}`, content);
  const replay = (id: string) => experiment({ traffic: { upload: { id, format: 'trace' } } });

  it('are named by their content, and read under the name that they came with', async () => {
    const { body, status } = await upload('monday.jsonl', 'one\n');
    expect([status, body.bytes, body.id]).toEqual([201, 4, expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect((await upload('monday.jsonl', 'one\n')).body.id).toBe(body.id);
    let read = '';
    run = async ({ input }) => {
      read = readFileSync((input as { path: string }).path, 'utf8');
      return {};
    };
    await ended((await replay(body.id)).body.id);
    expect([read, tasks[0]!.argv.slice(0, 2)]).toEqual(['one\n', ['--trace-data', 'monday.jsonl']]);
    expect(existsSync((tasks[0]!.input as { path: string }).path)).toBe(false);
  });

  it('are the latest of their own workspace', async () => {
    const { body } = await upload('first.jsonl', 'first');
    const other = caller('none', { other: 'operator' });
    const foreign = { ...QUESTION, traffic: { upload: { id: body.id, format: 'trace' } } };
    expect((await ask('POST workspaces/other/lab/experiments', foreign, other)).body.error.code).toBe('API_UPLOAD');
    for (let i = 0; i < LAB_LIMITS.uploads; i++) await upload(`${i}.jsonl`, `later ${i}`);
    const gone = await replay(body.id);
    expect([gone.status, gone.body.error.hint]).toEqual([404, 'upload the file again']);
  });

  it.each(['../a', '-o', '.hidden', 'a/b', '', 'a b', 'x'.repeat(81)])(
    'are refused under the name %j',
    async (name) => {
      expect((await upload(name, 'one')).status).toBe(400);
    },
  );

  it.each(['', 'PAR1\0\0', '\u001f\ufffd\b'])('are refused where they are no text: %j', async (content) => {
    expect((await upload('a.jsonl', content)).body.error.code).toBe('API_BODY');
  });
});
