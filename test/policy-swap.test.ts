import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../src/gateway/config/gateway-config.js';
import { readPolicyBody } from '../src/gateway/config/read-admin-body.js';
import { DecisionReplay } from '../src/gateway/decisions/replay-decisions.js';
import { FakeEngine, sendJson, until } from '../src/gateway/fake-engine.fixture.js';
import type { Gateway } from '../src/gateway/gateway.js';
import { randomStream } from '../src/kernel/random-stream.js';
import { afterwards, ask, expectIdle, gatewayOver } from './support/gateway-fixture.js';

/** Policies as they are sent, with other routing, admission and queueing. */
const POLICIES: object[] = [
  { routing: { policy: 'least-loaded' }, flow_control: { max_concurrency: 2 } },
  { policy: 'lmetric' },
  {
    routing: { policy: 'weighted', block_size: 32 },
    flow_control: { saturation_detector: 'utilization', queue_depth_threshold: 2, fairness_policy: 'round-robin' },
    admission: { slo_priorities: { batch: 9 } },
  },
  { routing: { policy: 'round-robin' }, admission: { policy: 'token-bucket', token_bucket_capacity: 1e9 } },
  {
    routing: { policy: 'round-robin' },
    flow_control: { max_concurrency: 1, dispatch_tick_ms: 1, max_queue_depth: 50 },
  },
  {
    routing: { policy: 'chwbl' },
    tenant_budgets: { a: 1 },
    flow_control: { max_concurrency: 3, dispatch_order: 'fifo' },
  },
];

const CLIENTS = 24;
const REQUESTS = 40;

/** Slow engines, and the requests they received. */
async function slowEngines(count: number): Promise<{ engines: FakeEngine[]; seen: string[] }> {
  const random = randomStream(3, 'slow engines');
  const seen: string[] = [];
  const engines = await Promise.all(Array.from({ length: count }, () => FakeEngine.start()));
  for (const engine of engines) {
    afterwards(() => engine.kill());
    engine.answer = ({ body, response }) => {
      seen.push(JSON.parse(body).user);
      let turns = 1 + random.below(30);
      const turn = () => (--turns > 0 ? setImmediate(turn) : sendJson(response, 200, { choices: [] }));
      turn();
    };
  }
  return { engines, seen };
}

async function admin(
  gateway: Gateway,
  method: string,
  path: string,
  body?: object,
): Promise<{ [key: string]: unknown }> {
  const answer = await fetch(`${gateway.adminUrl}/api/v1/workspaces/default/endpoints/default/${path}`, {
    method,
    headers: { authorization: `Bearer ${gateway.adminToken}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { [key: string]: unknown };
}

test('policies take over from each other under load, and nothing is lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-swap-'));
  afterwards(async () => rmSync(folder, { recursive: true }));
  const decisionLog = join(folder, 'decisions.jsonl');
  const { engines, seen } = await slowEngines(3);
  const gateway = await gatewayOver(engines, { decisionLog });
  const endpoint = gateway.endpoints.get('default')!;
  const statuses: number[] = [];
  const ids = Array.from({ length: CLIENTS * REQUESTS }, (_, i) => `u${i}`);
  const left = [...ids];
  let swapsAt = 20;
  let swaps = 0;

  async function swap(): Promise<void> {
    const policy = POLICIES[swaps++ % POLICIES.length]!;
    if (swaps % 4 > 0) await admin(gateway, 'PUT', 'policy', policy);
    else {
      // As on SIGHUP, with another file.
      const [given] = gateway.config.endpoints;
      gateway.reload({ ...gateway.config, endpoints: [{ ...given!, policy: readPolicyBody(policy) }] });
    }
  }

  async function client(number: number): Promise<void> {
    for (let user = left.shift(); user !== undefined; user = left.shift()) {
      const answer = await fetch(`${gateway.url}/v1/completions`, {
        method: 'POST',
        headers: {
          'x-slo-class': ['standard', 'critical', 'batch'][number % 3]!,
          'x-gateway-inference-fairness-id': ['a', 'b'][number % 2]!,
        },
        body: JSON.stringify({ model: 'm', user, prompt: `prompt ${number} ${'and so on '.repeat(20)}` }),
      });
      await answer.arrayBuffer();
      statuses.push(answer.status);
      if (statuses.length < swapsAt) continue;
      swapsAt += 20;
      await swap();
    }
  }

  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  expect(statuses).toEqual(ids.map(() => 200));
  expect([...seen].sort()).toEqual([...ids].sort());
  expect(swaps).toBeGreaterThan(40);
  expectIdle(gateway);
  expect([endpoint.flow.waiting, endpoint.flow.counts.admitted]).toEqual([0, ids.length]);
  // The queue was there, and used.
  expect(endpoint.flow.counts.dispatched).toBeGreaterThan(100);
  expect(endpoint.flow.counts.queuedUs).toBeGreaterThan(0);

  const [present, before, earlier] = endpoint.history();
  await admin(gateway, 'POST', 'policy/rollback');
  expect(endpoint.policyHash).toBe(before!.hash);
  await admin(gateway, 'POST', 'policy/rollback');
  expect([endpoint.policyHash, endpoint.policy]).toEqual([earlier!.hash, earlier!.policy]);
  expect(present!.hash).not.toBe(before!.hash);
  left.push('last');
  await client(0);
  expect([statuses.at(-1), seen.at(-1)]).toEqual([200, 'last']);

  await gateway.close(0);
  const lines = readFileSync(decisionLog, 'utf8').trimEnd().split('\n');
  const replay = new DecisionReplay(decisionLog);
  for (const [i, line] of lines.entries()) replay.line(line, i + 1);
  expect([replay.differences, replay.decisions]).toEqual([[], ids.length + 1]);
  const parsed = lines.map((line) => JSON.parse(line));
  const known = new Set(parsed.filter(({ type }) => type === 'policy').map(({ hash }) => hash));
  const named = new Set(parsed.filter(({ type }) => type === 'request').map(({ policy }) => policy));
  expect([...named].filter((hash) => !known.has(hash))).toEqual([]);
  expect(named.size).toBeGreaterThanOrEqual(POLICIES.length);
  expect(named).toContain(earlier!.hash);
});

/** A gateway with one place and a queue, whose place is taken. */
async function fullGateway(flowControl: object = {}) {
  const engine = await FakeEngine.start();
  afterwards(() => engine.kill());
  engine.answer = () => {};
  const gateway = await gatewayOver([engine]);
  const endpoint = gateway.endpoints.get('default')!;
  const policy = { flow_control: { max_concurrency: 1, ...flowControl } };
  endpoint.setPolicy(readPolicyBody(policy, DEFAULT_POLICY));
  const first = ask(gateway);
  const { response } = await engine.got(1);
  const waiting = async (count: number) => until(() => endpoint.flow.waiting === count);
  const answer = () => sendJson(response, 200, {});
  return { answer, endpoint, engine, first, gateway, waiting };
}

test('clients that disconnect while waiting are dropped at once, and new ones get the reason for their refusal', async () => {
  const { answer, endpoint, engine, first, gateway, waiting } = await fullGateway({ max_queue_depth: 1 });
  const leaver = new AbortController();
  const gone = ask(gateway, undefined, { signal: leaver.signal }).catch(() => 'gone');
  await waiting(1);
  const headers = { authorization: `Bearer ${gateway.adminToken}` };
  const shown = (await (await fetch(`${gateway.adminUrl}/api/v1/live`, { headers })).json()) as { items: object[] };
  expect(shown.items).toMatchObject([{ in_flight: 1, queued: { standard: 1 } }]);
  const full = await ask(gateway);
  expect([full.status, full.headers.get('retry-after'), await full.json()]).toMatchObject([
    429,
    '1',
    { error: { type: 'rate_limit_error', message: expect.stringContaining('The queue is full, 1 requests wait') } },
  ]);
  leaver.abort();
  expect(await gone).toBe('gone');
  await waiting(0);
  const second = ask(gateway);
  await waiting(1);
  answer();
  expect((await first).status).toBe(200);
  sendJson((await engine.got(2)).response, 200, {});
  expect((await second).status).toBe(200);
  expect(engine.seen).toHaveLength(2);
  expect(endpoint.flow.counts).toMatchObject({ left: 1, rejected: 1, dispatched: 2 });
  // Also of the request that left, and not of the one that never was in the queue.
  expect(gateway.metricsText()).toContain('twinyard_queue_time_seconds_count{endpoint="default"} 3\n');
  expectIdle(gateway);
});

test('a request that times out in the queue is not sent to a replica', async () => {
  const { answer, endpoint, engine, first, gateway, waiting } = await fullGateway();
  const second = ask(gateway);
  await waiting(1);
  for (const exchange of gateway.underWay()) if (exchange.queueSlot >= 0) exchange.timeOut();
  expect([(await second).status, endpoint.flow.waiting]).toEqual([504, 0]);
  answer();
  expect((await first).status).toBe(200);
  expect(engine.seen).toHaveLength(1);
  expectIdle(gateway);
});

test('waiting requests are refused at once when the gateway shuts down', async () => {
  const { answer, first, gateway, waiting } = await fullGateway();
  const second = ask(gateway);
  await waiting(1);
  const closed = gateway.close(20_000);
  const told = await second;
  expect([told.status, told.headers.get('connection')]).toEqual([503, 'close']);
  answer();
  expect((await first).status).toBe(200);
  await closed;
});
