import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFor, FakeEngine, until } from '../../../gateway/fake-engine.fixture.js';
import { Gateway } from '../../../gateway/gateway.js';
import { PROFILE, recordingOf, served } from '../../../twin/whatif/recorded-run.fixture.js';
import { ApiHost } from '../../api-host.js';
import { serveApi } from '../../api-server.js';
import { caller } from '../../fake-api.fixture.js';
import { JobBoard } from '../../jobs/job-board.js';
import { respond } from '../../respond.js';

const opened: (() => unknown)[] = [];
let gateway: Gateway;
let jobs: JobBoard;

// biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
type Body = any;
const ONE = 'workspaces/default/endpoints/default';

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-twin-routes-'));
  opened.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'traffic.jsonl');
  // As a file that was rotated: the gateway writes its own.
  const run = served({ requests: 300 }, { routing: { policy: 'round-robin', options: {} } });
  writeFileSync(`${path}.1`, recordingOf(run));
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  gateway = new Gateway(configFor([engine], { record: { path, maxBytes: 1e6, files: 2 } }));
  gateway.api = serveApi(gateway);
  await gateway.start();
  opened.push(() => gateway.close(0));
  await until(() => gateway.isReady);
  const endpoint = gateway.endpoints.get('default')!;
  endpoint.profiles.set('r0', PROFILE);
});
afterAll(async () => {
  for (const close of opened.reverse()) await close();
});

async function ask(line: string, body?: object): Promise<{ status: number; body: Body }> {
  const [method, url] = line.split(' ') as [string, string];
  const response = await fetch(`${gateway.adminUrl}/api/v1/${url}`, {
    method,
    headers: { authorization: `Bearer ${gateway.adminToken}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')!.startsWith('application/json');
  return { status: response.status, body: isJson ? JSON.parse(text) : text };
}

/** The job after its end, which the stream of its changes waits for. */
async function ended({ body }: { body: Body }): Promise<Body> {
  const { body: text } = await ask(`GET jobs/${body.id}/events`);
  expect(text).toMatch(/event: end\ndata: {}\n\n$/);
  return (await ask(`GET jobs/${body.id}`)).body;
}

describe('questions about recorded traffic', () => {
  it('are jobs with progress and a result', async () => {
    const asked = { policies: [{ policy: 'lmetric' }], last: '5000d', runs: 5 };
    const created = await ask(`POST ${ONE}/whatif`, asked);
    expect(created).toMatchObject({ status: 202, body: { kind: 'whatif', workspace: 'default', endpoint: 'default' } });
    const job = await ended(created);
    expect(job).toMatchObject({ state: 'done', error: null, created_by: 'admin', progress: { stage: 'simulating' } });
    expect(job.result.alternatives).toMatchObject([{ name: 'lmetric', replicas: 4 }]);
    expect(job.result.recording).toMatchObject({ requests: 300, file: 'gateway' });
    // The end of the time that it is about, so that it can be asked again.
    expect(Date.parse(job.asked.to)).toBeLessThanOrEqual(Date.now() + 1);
    const { items } = (await ask('GET jobs?endpoint=default')).body;
    expect(items[0]).not.toHaveProperty('result');
    expect(items[0].id).toBe(created.body.id);
  });

  it('advise a policy', async () => {
    const to = '2030-01-02T03:04:05.678Z';
    const asked = { policies: ['lmetric', 'random'], metric: 'ttft_mean_ms', last: '5000d', runs: 5, to };
    const { commands, result, state } = await ended(await ask(`POST ${ONE}/advice`, asked));
    expect(commands).toEqual([
      `twinyard advise --gateway ${gateway.adminUrl} --endpoint default --workspace default --last 5000d --metric ttft-mean ` +
        `--policies lmetric,random --to ${to} --runs 5`,
    ]);
    expect([state, result.present.policy, result.best.policy]).toEqual(['done', 'round-robin', 'lmetric']);
    expect(result.verdict).toMatch(/^Switch from round-robin to lmetric: /);
    const { body } = await ask(`GET ${ONE}/live`);
    expect(body.advice).toMatchObject({ verdict: result.verdict, policy: 'lmetric', present: 'round-robin' });
  });

  it('plan for an SLO on recorded traffic, with the error of the recording as simulated', async () => {
    const asked = { slos: [{ metric: 'ttft', statistic: 'p90', limit_ms: 40 }], last: '5000d', times: 2 };
    const { result, ...job } = await ended(
      await ask(`POST ${ONE}/plan`, { ...asked, max_replicas: 1, policy: 'round-robin', requests: 100 }),
    );
    expect([job.state, job.kind, job.asked]).toEqual(['done', 'plan', expect.objectContaining(asked)]);
    expect(job.progress).toMatchObject({ stage: 'simulating', done: expect.any(Number) });
    expect(result.verdict).toMatch(/^No fleet of up to 1 replica keeps TTFT p90 <= 40 ms at .* allow more replicas/);
    expect(result.baseline).toMatchObject({ refused: null, stepError: expect.any(Number) });
    expect([result.present, result.recording.file]).toEqual([4, 'gateway']);
    expect(result.plan.load.rate).toBeCloseTo(2 * result.plan.load.baseRate);
  });

  it('find the least fleet for a preset without a recording, and say what no fleet keeps', async () => {
    const slos = [{ metric: 'ttft', statistic: 'p90', limit_ms: 60 }];
    const preset = { workload: 'chatbot', rate: 80, requests: 100, policy: 'round-robin' };
    const { result } = await ended(await ask(`POST ${ONE}/plan`, { slos, ...preset }));
    const { at, oneLess, replicas } = result.candidates[0].plan;
    expect(result.verdict).toMatch(/^\d+ H100 \(\d+ replicas, tp 1\) keep TTFT p90 <= 60 ms at 80 req\/s: /);
    expect([at.kept, oneLess.kept, oneLess.replicas]).toEqual([true, false, replicas - 1]);
    expect([result.recording, result.baseline, result.present]).toEqual([null, null, null]);
    const impossible = { slos: [{ ...slos[0], limit_ms: 1 }], ...preset };
    const none = await ended(await ask(`POST ${ONE}/plan`, impossible));
    expect(none.result.verdict).toMatch(/^No fleet keeps TTFT p90 <= 1 ms: on an idle H100/);
    for (const wrong of [
      { slos, workload: 'chatbot' },
      { slos, rate: 5 },
      { slos, workload: 'none', rate: 5 },
      { slos: [{ metric: 'itl', statistic: 'p99.9', limit_ms: 5 }] },
      { slos: [] },
      { slos, policy: 'lmetrik' },
    ])
      expect((await ask(`POST ${ONE}/plan`, wrong)).status, JSON.stringify(wrong)).toBe(400);
  });

  it('ask for a queue, and have no command where no flag can say the same', async () => {
    const asked = { policies: [{ policy: 'lmetric' }], flow_control: { max_concurrency: 1 }, last: '5000d', runs: 5 };
    const job = await ended(await ask(`POST ${ONE}/whatif`, asked));
    expect([job.state, job.result.alternatives[0].name]).toEqual(['done', 'lmetric']);
    expect(job.commands).toHaveLength(1);
    const policies = [{ policy: 'predicted-latency', options: { slo: { batch: { ttft_ms: 500 } } } }];
    const nested = await ask(`POST ${ONE}/whatif`, { policies });
    expect([nested.status, nested.body.commands]).toEqual([202, []]);
    await ask(`DELETE jobs/${nested.body.id}`);
    expect((await ask(`POST ${ONE}/whatif`, { flow_control: { max_concurrency: 0 } })).status).toBe(400);
  });

  it('fail with the reason, and name what is wrong with the request', async () => {
    const before = { policies: [{ policy: 'lmetric' }], to: '2001-02-03T04:05:06Z' };
    const none = await ended(await ask(`POST ${ONE}/whatif`, before));
    expect([none.state, none.result]).toEqual(['failed', null]);
    expect([none.error.code, none.asked.to]).toEqual(['WHATIF_NO_REQUESTS', before.to]);
    expect((await ask(`POST ${ONE}/whatif`, { to: 'yesterday' })).status).toBe(400);
    expect((await ask(`POST ${ONE}/whatif`, { last: 'soon' })).status).toBe(400);
    const wrong = await ask(`POST ${ONE}/whatif`, { policies: [{ policy: 'lmetrik' }] });
    expect([wrong.status, wrong.body.error.hint]).toEqual([400, expect.stringContaining("did you mean 'lmetric'?")]);
    expect((await ask(`POST ${ONE}/whatif`, { policies: [{ policy: 'lmetric', options: { a: 1 } }] })).status).toBe(
      400,
    );
    expect((await ask(`POST ${ONE}/advice`, { policies: ['none'] })).status).toBe(400);
    expect((await ask('POST workspaces/default/endpoints/none/whatif', {})).status).toBe(404);
    expect((await ask('GET jobs/none')).status).toBe(404);
    expect((await ask(`POST ${ONE}/whatif`, { model: 'no/such-model', last: '1h' })).body.error.code).toBe(
      'TWIN_UNKNOWN_ENGINE',
    );
  });

  it('leave nothing behind when they are cancelled', async () => {
    const before = leftOvers();
    const created = await ask(`POST ${ONE}/advice`, { last: '5000d' });
    const cancelled = await ask(`DELETE jobs/${created.body.id}`);
    expect([cancelled.status, cancelled.body.state]).toEqual([200, 'cancelled']);
    expect(leftOvers()).toEqual(before);
  });
});

const leftOvers = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`twinyard-twin-${process.pid}-`));

describe('a guarded switch', () => {
  const policy = { routing: { policy: 'lmetric' } };
  const guard = { metric: 'ttft_p90', most: 0.1 };

  it('fails where too few requests were served to tell, and changes nothing', async () => {
    const job = await ended(await ask(`POST ${ONE}/policy/switch`, { policy, guard, watch: '1s' }));
    expect([job.state, job.error.code]).toEqual(['failed', 'API_TOO_FEW_REQUESTS']);
    expect(gateway.endpoints.get('default')!.policy.name).toBe('round-robin');
  });

  it('goes back when it is cancelled, allows one at a time, and checks the body', async () => {
    await serve(60);
    const whole = { metric: 'e2e_p90', most: 0.1 };
    const created = await ask(`POST ${ONE}/policy/switch`, { policy, guard: whole, watch: '10m' });
    expect([created.status, (await ask(`GET jobs/${created.body.id}`)).body]).toMatchObject([
      202,
      { state: 'running', error: null, progress: { stage: 'watching', total: 600 } },
    ]);
    expect(gateway.endpoints.get('default')!.policy.name).toBe('lmetric');
    const second = await ask(`POST ${ONE}/policy/switch`, { policy, guard });
    expect([second.status, second.body.error.code]).toEqual([409, 'API_SWITCH_UNDER_WAY']);
    const status = async () => (await ask(`GET ${ONE}`)).body.status.switch;
    const facts = { job: created.body.id, policy: 'lmetric', former: 'round-robin', metric: 'e2e_p90', most: 0.1 };
    expect(await status()).toMatchObject({ ...facts, state: 'watching', reason: '' });
    expect((await ask(`DELETE jobs/${created.body.id}`)).body.state).toBe('cancelled');
    expect(gateway.endpoints.get('default')!.policy.name).toBe('round-robin');
    expect(await status()).toMatchObject({ ...facts, state: 'cancelled' });
    expect((await ask(`POST ${ONE}/policy/switch`, { policy, guard, watch: '10' })).status).toBe(400);
    expect((await ask(`POST ${ONE}/policy/switch`, { policy: {}, guard: { metric: 'cost', most: 1 } })).status).toBe(
      400,
    );
  });
});

describe('a configuration that is read again while a switch is watched', () => {
  it('is not overwritten', async () => {
    await serve(60);
    const asked = { policy: { routing: { policy: 'lmetric' } }, guard: { metric: 'errors', most: 1 }, watch: '1h' };
    const created = await ask(`POST ${ONE}/policy/switch`, asked);
    await until(() => gateway.endpoints.get('default')!.policy.name === 'lmetric');
    const endpoints = gateway.config.endpoints.map((one) => ({ ...one, policy: { ...one.policy, name: 'unified' } }));
    gateway.reload({ ...gateway.config, endpoints });
    expect((await ended(created)).result).toMatchObject({ outcome: 'superseded' });
    expect(gateway.endpoints.get('default')!.policy.name).toBe('unified');
  });
});

async function serve(requests: number): Promise<void> {
  const before = gateway.traffic.requests.size;
  const body = '{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}';
  for (let i = 0; i < requests; i++) {
    await (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body })).text();
  }
  await until(() => gateway.traffic.requests.size >= before + requests);
}

describe('jobs', () => {
  const as = (who: ReturnType<typeof caller>, line: string, body: object = {}) => {
    const [method, path] = line.split(' ') as [string, string];
    jobs ??= new JobBoard();
    const host = new ApiHost({ store: null, gateway, control: null, jobs });
    return respond(host, who, {
      ...{ method, path: `/api/v1/${path}`, query: new URLSearchParams(), header: () => undefined },
      ...{ body: async () => JSON.stringify(body), signal: new AbortController().signal },
    }) as Promise<{ status: number; body: Body }>;
  };

  it('are created and cancelled by operators of the workspace, and seen by its viewers alone', async () => {
    const [viewer, operator, stranger] = [
      caller('none', { default: 'viewer' }),
      caller('none', { default: 'operator' }),
      caller('none', { other: 'admin' }),
    ];
    for (const change of ['advice', 'whatif', 'plan', 'policy/switch'])
      expect((await as(viewer, `POST ${ONE}/${change}`)).status).toBe(403);
    expect((await as(stranger, `POST ${ONE}/advice`)).status).toBe(403);
    const { body } = await as(operator, `POST ${ONE}/advice`, { last: '5000d' });
    expect((await as(viewer, `GET jobs/${body.id}`)).status).toBe(200);
    expect((await as(stranger, `GET jobs/${body.id}`)).status).toBe(404);
    expect((await as(stranger, 'GET jobs')).body.items).toEqual([]);
    expect((await as(viewer, 'GET jobs')).body.items).toHaveLength(1);
    expect((await as(viewer, `DELETE jobs/${body.id}`)).status).toBe(403);
    expect((await as(operator, `DELETE jobs/${body.id}`)).body.state).toBe('cancelled');
  });
});
