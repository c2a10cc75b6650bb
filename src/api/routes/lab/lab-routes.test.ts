import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from '../../../store/open-store.js';
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

let folder: string;
/** As many replicas as two fleets may have. */
const MANY = [1, 2].map(() => ({ hardware: 'H100', replicas: LAB_LIMITS.replicas }));

let uploads: LabUploads;
let jobs: JobBoard;
let store: Store | null;
let tasks: LabTask[];
/** What the runner does with a task. */
let run: (task: LabTask, signal: AbortSignal) => Promise<object>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-lab-routes-'));
  uploads = new LabUploads(folder);
  jobs = new JobBoard();
  store = null;
  tasks = [];
  run = async () => ({ verdict: 'same' });
});
afterEach(async () => {
  await jobs.close();
  await store?.close();
  rmSync(folder, { recursive: true });
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
  const host = new ApiHost({ store, gateway: null, control: null, jobs, lab });
  const response = await respond(host, as, {
    ...{ method, path: `/api/v1/${path}`, query: new URLSearchParams(query), header: () => undefined },
    body: async () => (typeof body === 'string' ? body : JSON.stringify(body)),
    signal: new AbortController().signal,
  });
  return response as { status: number; body: Body };
}

/** A store that has a workspace besides the default one. */
async function storeWith(workspace: string): Promise<void> {
  store = await openStore(':memory:');
  const ref = { kind: 'Workspace', workspace: '', name: workspace };
  await store.resources.change('alice', (tx) => tx.put(ref, { labels: {}, spec: {} }));
}

/** Work that ends when it is cancelled. */
const unending: typeof run = (_, signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('cancelled'))));

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
      profile: null,
      argv: [
        ...['--workload', 'rag', '--rate', '20', '--num-requests', '1000', '--model', 'qwen/qwen3-14b'],
        ...['--num-instances', '4', '--routing-policy', 'round-robin,weighted:queue-depth:1+kv-utilization:2'],
        ...['--snapshot-refresh-interval', '250000', '--slo-ttft', '500ms', '--seeds', '2'],
      ],
    });
  });

  it('have policies with options, rates, a mixed fleet, admission and a queue as the command line has them', async () => {
    const { body } = await experiment({
      traffic: { workload: 'rag', rates: [5, 10.5], requests: 50 },
      fleet: {
        model: 'qwen/qwen3-14b',
        kinds: [
          { hardware: 'H100', replicas: 2 },
          { hardware: 'L40S', tp: 2, replicas: 1 },
        ],
      },
      policies: ['chwbl:load_factor=1.5+key=first-message'],
      admission: { policy: 'token-bucket', options: { capacity: 5000 } },
      flow_control: { max_concurrency: 8, request_ttl_ms: 0.5, queue_shedding: true },
    });
    await ended(body.id);
    expect(tasks[0]!.argv).toEqual([
      ...['--workload', 'rag', '--rate', '5,10.5', '--num-requests', '50', '--model', 'qwen/qwen3-14b'],
      ...['--fleet', '2*H100,1*L40S:2', '--routing-policy', 'chwbl:load_factor=1.5+key=first-message'],
      ...['--admission-policy', 'token-bucket', '--token-bucket-capacity', '5000', '--flow-control'],
      ...['--saturation-detector', 'concurrency', '--dispatch-tick-interval', '0', '--max-concurrency', '8'],
      ...['--request-ttl', '500', '--max-gateway-queue-depth', '1000', '--queue-shedding', '--seeds', '3'],
    ]);
    expect(body.commands[0].replaceAll("'", '').split(' ').slice(2).join(' ')).toBe(tasks[0]!.argv.join(' '));
    expect((await ask(`GET jobs/${body.id}`)).body.asked.flow_control).toEqual({
      ...{ max_concurrency: 8, request_ttl_ms: 0.5, queue_shedding: true },
    });
  });

  it('offer each policy with the schema of the options that a command line can set', async () => {
    const { body } = await ask('GET lab/choices');
    const named = (list: Body[], name: string) => list.find((one) => one.name === name).options;
    expect(named(body.policies, 'chwbl').properties.load_factor).toMatchObject({ default: 1.25, type: 'number' });
    expect(Object.keys(named(body.policies, 'predicted-latency').properties)).not.toContain('slo');
    expect(Object.keys(named(body.admission, 'token-bucket').properties)).toEqual(['capacity', 'refill_rate']);
    expect(named(body.admission, 'tier-shed').properties).toEqual({});
    expect(named(body.policies, 'weighted').properties.scorers.type).toBe('string');
    expect(body.flow_control.properties.max_concurrency).toMatchObject({ default: 100 });
    expect(body.latency_models).not.toContain('profile');
  });

  it.each([
    [{ traffic: {} }, 'has no source'],
    [{ traffic: { workload: 'rag', recording: { endpoint: 'chat' } } }, 'has two sources'],
    [{ traffic: { workload: 'none' } }, "unknown value 'none'"],
    [{ traffic: { workload: 'rag', requests: LAB_LIMITS.requests + 1 } }, 'traffic.requests'],
    [{ traffic: { upload: { id: 'a'.repeat(64), format: 'trace' }, rate: 2 } }, 'a trace has its own requests'],
    [{ traffic: { upload: { id: '../../etc/passwd', format: 'trace' } } }, 'traffic.upload.id'],
    [{ policies: ['lmetric'] }, 'has nothing to compare with'],
    [{ policies: [] }, 'policies'],
    [{ policies: ['lmetric', 'chwbl:load_factor=0'] }, 'policies[1]'],
    [{ policies: ['lmetric', 'chwbl:load=2'] }, "'chwbl' has no option 'load'"],
    [{ policies: ['lmetric', 'chwbl:key=a,b'] }, 'policies'],
    [{ traffic: { workload: 'rag', rate: 2, rates: [2, 3] } }, "together with 'rate'"],
    [{ traffic: { workload: 'rag', rates: [2, 2] } }, 'has one twice'],
    [{ traffic: { workload: 'rag', rates: Array.from({ length: 9 }, (_, i) => i + 1) } }, 'traffic.rates'],
    [{ traffic: { recording: { endpoint: 'chat' }, rates: [2, 3] } }, 'a trace has its own requests'],
    [{ fleet: {} }, 'fleet.model'],
    [{ fleet: { model: 'qwen/qwen3-14b', kinds: [{ hardware: 'TPU', replicas: 1 }] } }, 'fleet.kinds[0].hardware'],
    [{ fleet: { model: 'qwen/qwen3-14b', kinds: [{ hardware: '/etc/x.json', replicas: 1 }] } }, 'fleet.kinds'],
    [{ fleet: { ...QUESTION.fleet, kinds: [{ hardware: 'H100', replicas: 1 }] } }, "together with 'kinds'"],
    [{ fleet: { model: 'qwen/qwen3-14b', kinds: MANY } }, 'has 512 replicas'],
    [{ fleet: { ...QUESTION.fleet, latency_model: 'profile' } }, 'fleet.latency_model'],
    [{ fleet: { profile: { endpoint: 'chat' }, tp: 2 } }, "together with 'profile'"],
    [{ admission: { policy: 'none' } }, "unknown admission policy 'none'"],
    [{ admission: { policy: 'token-bucket', options: { capacity: 0 } } }, 'capacity'],
    [{ admission: { policy: 'tier-shed', options: { threshold: 9 } } }, 'has no flag'],
    [{ flow_control: { max_concurrency: 0 } }, 'flow_control.max_concurrency'],
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
    run = unending;
    await storeWith('other');
    const created = [];
    for (let i = 0; i < LAB_LIMITS.open; i++)
      created.push((await experiment({}, { ...OPERATOR, name: `operator ${i}` })).body.id);
    const refused = await experiment();
    expect([refused.status, refused.body.error.code]).toEqual([429, 'API_JOBS_FULL']);
    const other = caller('none', { other: 'operator' });
    expect((await ask('POST workspaces/other/lab/experiments', QUESTION, other)).status).toBe(202);
    expect((await ask(`DELETE jobs/${created[0]}`)).body.state).toBe('cancelled');
    expect((await experiment()).status).toBe(202);
  });

  it('of one caller leave places for others', async () => {
    run = unending;
    const first = await experiment();
    for (let i = 0; i < LAB_LIMITS.waitingOfOne; i++) expect((await experiment()).status).toBe(202);
    const refused = await experiment();
    expect([refused.status, refused.body.error]).toMatchObject([429, { code: 'API_JOBS_FULL', message: /alice/ }]);
    expect((await experiment({}, { ...OPERATOR, name: 'bob' })).status).toBe(202);
    await ask(`DELETE jobs/${first.body.id}`);
  });

  it('belong to workspaces that exist', async () => {
    await storeWith('other');
    const everywhere = caller('operator');
    const gone = (line: string, body: unknown = '') => ask(line.replace('{}', 'workspaces/gone/lab'), body, everywhere);
    for (const response of [
      await gone('POST {}/experiments', QUESTION),
      await gone('POST {}/uploads?name=a.jsonl', 'one'),
      await gone('GET {}/results'),
      await gone('GET {}/results/one'),
      await gone('POST {}/results', { job: 'one', name: 'a' }),
      await gone('DELETE {}/results/one'),
    ]) {
      expect([response.status, response.body.error.code]).toEqual([404, 'RESOURCE_UNKNOWN']);
    }
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
    await storeWith('other');
    const other = caller('none', { other: 'operator' });
    const foreign = { ...QUESTION, traffic: { upload: { id: body.id, format: 'trace' } } };
    expect((await ask('POST workspaces/other/lab/experiments', foreign, other)).body.error.code).toBe('API_UPLOAD');
    for (let i = 0; i < LAB_LIMITS.uploads; i++) await upload(`${i}.jsonl`, `later ${i}`);
    const gone = await replay(body.id);
    expect([gone.status, gone.body.error.hint]).toEqual([404, 'upload the file again']);
  });

  it('stay while an experiment waits for them', async () => {
    run = unending;
    await experiment();
    const { body } = await upload('first.jsonl', 'first');
    const waiting = (await replay(body.id)).body.id;
    for (let i = 0; i < LAB_LIMITS.uploads; i++) await upload(`${i}.jsonl`, `later ${i}`);
    expect(uploads.get('default', body.id)).toBeDefined();
    await ask(`DELETE jobs/${waiting}`);
    await upload('last.jsonl', 'last');
    expect(uploads.get('default', body.id)).toBeUndefined();
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

describe('saved results', () => {
  const SAVED = `${LAB}/results`;
  const VIEWER = caller('none', { default: 'viewer' });
  const done = async () => (await ended((await experiment()).body.id)).id;

  it('are saved and deleted by operators, and read by viewers of the workspace alone', async () => {
    await storeWith('other');
    const job = await done();
    expect((await ask(`POST ${SAVED}`, { job, name: 'mine' }, VIEWER)).status).toBe(403);
    const { body, status } = await ask(`POST ${SAVED}`, { job, name: 'before the sale' });
    expect([status, body]).toMatchObject([201, { name: 'before the sale', saved_by: 'alice', verdict: 'same' }]);
    expect([body.asked, body.commands[0]]).toEqual([QUESTION, expect.stringMatching(/^twinyard compare /)]);
    // The run itself is kept in memory, and goes with the process.
    jobs = new JobBoard();
    const list = (await ask(`GET ${SAVED}`, '', VIEWER)).body;
    expect([list.items, list.next]).toEqual([[body], null]);
    const one = `${SAVED}/${body.id}`;
    expect((await ask(`GET ${one}`, '', VIEWER)).body).toEqual({ ...body, result: { verdict: 'same' } });
    const foreign = caller('none', { other: 'admin' });
    expect((await ask(`GET ${one}`, '', foreign)).status).toBe(403);
    const elsewhere = one.replace('default', 'other');
    for (const line of [`GET ${elsewhere}`, `DELETE ${elsewhere}`])
      expect((await ask(line, '', foreign)).body.error.code).toBe('LAB_SAVED');
    expect((await ask(`DELETE ${one}`, '', VIEWER)).status).toBe(403);
    expect((await ask(`DELETE ${one}`)).body).toEqual(body);
    expect((await ask(`GET ${one}`)).status).toBe(404);
    const changes = await store!.resources.audit({ limit: 9 });
    expect(
      changes.filter(({ kind }) => kind === 'LabResult').map(({ action, kind, name }) => [kind, name, action]),
    ).toEqual([
      ['LabResult', body.id, 'delete'],
      ['LabResult', body.id, 'create'],
    ]);
  });

  it('are of experiments of the workspace that are done, in a store', async () => {
    expect((await ask(`POST ${SAVED}`, { job: await done(), name: 'a' })).body.error.code).toBe('API_NO_STORE');
    await storeWith('other');
    const other = caller('none', { default: 'operator', other: 'operator' });
    const job = await done();
    const foreign = await ask('POST workspaces/other/lab/results', { job, name: 'a' }, other);
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'API_JOB']);
    run = async () => Promise.reject(new Error('no memory'));
    const failed = await ask(`POST ${SAVED}`, { job: await done(), name: 'a' });
    expect([failed.status, failed.body.error.code]).toEqual([409, 'LAB_NOT_DONE']);
    expect((await ask(`POST ${SAVED}`, { job, name: '' })).status).toBe(400);
  });

  it('are paged', async () => {
    store = await openStore(':memory:');
    const job = await done();
    for (const name of ['a', 'b', 'c']) await ask(`POST ${SAVED}`, { job, name });
    const first = (await ask(`GET ${SAVED}?limit=2`)).body;
    const rest = (await ask(`GET ${SAVED}?limit=2&cursor=${first.next}`)).body;
    expect([first.items.length, rest.items.length, rest.next]).toEqual([2, 1, null]);
    expect([...first.items, ...rest.items].map(({ name }) => name).sort()).toEqual(['a', 'b', 'c']);
  });
});
