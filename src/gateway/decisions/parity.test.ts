import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { ROUTING_POLICIES } from '../../policy/registry.js';
import { DEFAULT_POLICY } from '../config/gateway-config.js';
import { configFor, FakeEngine, sendJson, startGateway, until } from '../fake-engine.fixture.js';
import { managedEndpoint, managedReplica, upstream } from '../fleet/managed.fixture.js';
import { DecisionReplay } from './replay-decisions.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-parity-'));
afterAll(() => rmSync(folder, { recursive: true }));

const PER_POLICY = 120;
const AT_ONCE = 8;

function replayed(path: string): DecisionReplay {
  const replay = new DecisionReplay(path);
  for (const [i, line] of readFileSync(path, 'utf8').trimEnd().split('\n').entries()) replay.line(line, i + 1);
  return replay;
}

describe('decision parity', () => {
  it('decides again what was decided live, by every policy, while replicas join, leave and fail', async () => {
    const log = join(folder, 'decisions.jsonl');
    const engines = await Promise.all(Array.from({ length: 5 }, () => FakeEngine.start()));
    const gateway = await startGateway(engines.slice(0, 3), { decisionLog: log });
    const random = randomStream(7, 'parity');
    engines[1]!.answer = ({ request, response }) => {
      if (random.next() < 0.2) request.socket.destroy();
      else sendJson(response, random.next() < 0.1 ? 503 : 200, {});
    };
    const statuses: number[] = [];
    let number = 0;
    async function client(requests: number): Promise<void> {
      for (let i = 0; i < requests; i++) {
        const chat = random.below(12);
        const turns = 1 + random.below(4);
        const messages = Array.from({ length: turns }, (_, turn) => ({
          role: turn === 0 ? 'system' : 'user',
          content: `chat ${chat} turn ${turn} ${'lorem ipsum dolor '.repeat(10 + 20 * (chat % 3))}`,
        }));
        const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'x-request-id': `q${number++}`, ...(chat % 2 === 0 ? { 'x-session-id': `s${chat}` } : {}) },
          body: JSON.stringify({ model: 'm', messages }),
        });
        await answer.arrayBuffer();
        statuses.push(answer.status);
      }
    }

    for (const [turn, policy] of ROUTING_POLICIES.entries()) {
      gateway.endpoints.get('default')!.setPolicy({ ...DEFAULT_POLICY, name: policy.name });
      const half = Array.from({ length: AT_ONCE }, () => client(PER_POLICY / AT_ONCE / 2));
      if (turn % 2 === 0) {
        const { url } = engines[3 + (turn % 4) / 2]!;
        gateway.fleet.add(gateway.endpoints.get('default')!, { id: `late-${turn}`, url, engine: 'vllm', models: null });
      } else gateway.fleet.remove(gateway.replicas().at(-1)!);
      await Promise.all(half);
      engines[0]!.metrics = `vllm:num_requests_running ${random.below(9)}\nvllm:num_requests_waiting ${random.below(5)}\nvllm:kv_cache_usage_perc ${random.next()}\n`;
      await gateway.fleet.check();
      await gateway.fleet.scrape();
      await Promise.all(Array.from({ length: AT_ONCE }, () => client(PER_POLICY / AT_ONCE / 2)));
    }
    expect(gateway.endpoints.get('default')!.inFlight).toBe(0);
    await gateway.close(0);
    await Promise.all(engines.map((engine) => engine.kill()));

    const replay = replayed(log);
    expect(replay.differences).toEqual([]);
    expect(replay.decisions).toBeGreaterThanOrEqual(2000);
    expect([...replay.byPolicy.keys()].sort()).toEqual(ROUTING_POLICIES.map(({ name }) => name).sort());
    expect(Math.min(...replay.byPolicy.values())).toBeGreaterThanOrEqual(PER_POLICY);
    expect(new Set(statuses)).toEqual(new Set([200, 503, 502].filter((status) => statuses.includes(status))));
    expect(gateway.metrics.retries).toBeGreaterThan(0);
  });

  it('holds when configurations are reloaded, endpoints come back and signals grow stale', async () => {
    const log = join(folder, 'reloaded.jsonl');
    const engines = await Promise.all([FakeEngine.start(), FakeEngine.start(), FakeEngine.start()]);
    const policy = { ...DEFAULT_POLICY, name: 'lmetric' };
    const config = configFor(engines, { decisionLog: log });
    const [endpoint] = config.endpoints;
    const gateway = await startGateway(engines, { decisionLog: log, endpoints: [{ ...endpoint!, policy }] });
    const send = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const body = JSON.stringify({ model: 'm', prompt: `prompt ${i % 3} ${'and more words '.repeat(9)}` });
        await (await fetch(`${gateway.url}/v1/completions`, { method: 'POST', body })).text();
      }
    };
    const { answer } = engines[0]!;
    await send(10);
    for (const engine of engines) engine.answer = () => {};
    const held = fetch(`${gateway.url}/v1/completions`, { method: 'POST', body: '{"model":"m","prompt":"held"}' });
    const holders = await Promise.race(engines.map((engine) => engine.got(engine.seen.length + 1)));
    for (const engine of engines) engine.answer = answer;
    await send(5);

    gateway.reload({ ...gateway.config, endpoints: [] });
    gateway.reload({
      ...gateway.config,
      endpoints: [{ ...endpoint!, policy }],
      signals: { intervalMs: 1000, staleMs: 1 },
    });
    await gateway.fleet.check();
    await gateway.fleet.scrape();
    await send(10);
    sendJson(holders.response, 200, {});
    await held;
    await send(10);
    const again = { ...gateway.config, endpoints: [{ ...endpoint!, policy: { ...policy, cacheBlocks: 8 } }] };
    gateway.reload({ ...again, signals: { intervalMs: 1000, staleMs: 9000 } });
    await send(10);
    await gateway.close(0);
    await Promise.all(engines.map((engine) => engine.kill()));
    const replay = replayed(log);
    expect([replay.differences, replay.decisions]).toEqual([[], 46]);
    const lines = readFileSync(log, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ type }) => type === 'stale')).toEqual([
      { type: 'stale', endpoint: 'default', staleMs: 9000 },
    ]);
    const hashes = new Set(lines.filter(({ type }) => type === 'policy').map(({ hash }) => hash));
    expect(new Set(lines.filter(({ type }) => type === 'request').map(({ policy: hash }) => hash))).toEqual(hashes);
    expect(hashes.size).toBe(2);
  });

  it('holds for endpoints that are put, changed and removed, with tiers and weights', async () => {
    const log = join(folder, 'managed.jsonl');
    const engines = await Promise.all(Array.from({ length: 4 }, () => FakeEngine.start()));
    const [a, b, c, d] = engines.map(({ url }) => url) as [string, string, string, string];
    const gateway = await startGateway([], { decisionLog: log, endpoints: [], waitMs: 0 });
    const random = randomStream(9, 'parity');
    engines[0]!.answer = ({ response }) => sendJson(response, random.next() < 0.3 ? 429 : 200, {});
    const replicas: string[] = [];
    const send = async (path: string, count: number) => {
      for (let i = 0; i < count; i++) {
        const body = JSON.stringify({ model: 'm', prompt: `prompt ${i % 5} ${'and more words '.repeat(9)}` });
        const answer = await fetch(`${gateway.url}/workspace/ws/endpoint/${path}/v1/completions`, {
          method: 'POST',
          body,
        });
        await answer.arrayBuffer();
        replicas.push(answer.headers.get('x-twinyard-replica') ?? '');
      }
    };
    for (const name of ['round-robin', 'weighted', 'lmetric', 'chwbl']) {
      const policy = { ...DEFAULT_POLICY, name };
      const engine = (...ids: string[]) => ids.map((id) => managedReplica(id, d));
      gateway.routes.put(managedEndpoint(engine('r0', 'r1'), { policy }));
      const shares = [
        upstream('a', a, { weight: 3 }),
        upstream('b', b, { weight: 1, credential: 'sk-ours' }),
        upstream('c', c, { tier: 1 }),
      ];
      gateway.routes.put(managedEndpoint(shares, { policy, name: 'far' }));
      await until(() => gateway.replicas().every(({ state }) => state === 'ready'));
      await Promise.all([send('chat', 10), send('far', 15), send('far', 15)]);
      gateway.routes.put(managedEndpoint(engine('r1', 'r2'), { policy }));
      gateway.routes.put(managedEndpoint(shares.toReversed(), { policy, name: 'far' }));
      gateway.endpoints.get('ws/far')!.replicas[1]!.unhealthy('for once', 1);
      await Promise.all([send('chat', 10), send('far', 15)]);
      gateway.routes.put(managedEndpoint([shares[1]!, shares[2]!], { policy, name: 'far' }));
      await send('far', 5);
      gateway.routes.put(managedEndpoint([], { policy, name: 'far' }));
      await send('far', 1);
      if (name !== 'lmetric') gateway.routes.remove('ws', 'chat');
    }
    await gateway.close(0);
    await Promise.all(engines.map((engine) => engine.kill()));
    const replay = replayed(log);
    expect(replay.differences).toEqual([]);
    expect(replay.decisions).toBeGreaterThanOrEqual(4 * 71);
    expect(new Set(replicas)).toEqual(new Set(['a', 'b', 'c', 'r0', 'r1', 'r2', '']));
    const text = readFileSync(log, 'utf8');
    for (const reason of ['another was drawn by weight', 'tier 1: tier 0 can take it']) expect(text).toContain(reason);
    expect(text).not.toContain('sk-ours');
  });

  it('notices a decision that was changed', async () => {
    const log = join(folder, 'changed.jsonl');
    const engines = await Promise.all([FakeEngine.start(), FakeEngine.start()]);
    const gateway = await startGateway(engines, { decisionLog: log });
    for (let i = 0; i < 4; i++) {
      await fetch(`${gateway.url}/v1/completions`, { method: 'POST', body: '{"model":"m","prompt":"x"}' });
    }
    await gateway.close(0);
    await Promise.all(engines.map((engine) => engine.kill()));
    const replay = new DecisionReplay(log);
    let swapped = false;
    for (const [i, line] of readFileSync(log, 'utf8').trimEnd().split('\n').entries()) {
      const changed: string = swapped ? line : line.replace('"replica":"r1"', '"replica":"r0"');
      swapped ||= changed !== line;
      replay.line(changed, i + 1);
    }
    expect(replay.differences).toEqual([
      expect.objectContaining({ recorded: 'r0', decided: 'r1', endpoint: 'default' }),
    ]);
  });

  it.each([
    ['{"type":', 'not JSON'],
    ['{"type":"other"}', 'not part of a decision log'],
    ['{"type":"first","endpoint":"e","request":1}', "endpoint 'e' has no policy yet"],
    ['{"type":"policy","endpoint":"e"}', 'cannot be replayed'],
    ['{"type":"policy","endpoint":"e","config":{"name":"wighted","options":{}}}', "unknown routing policy 'wighted'"],
  ])('reports what is wrong with %s', (line, problem) => {
    expect(() => new DecisionReplay('d.jsonl').line(line, 3)).toThrowError(
      expect.objectContaining({ place: 'd.jsonl:3', problem: expect.stringContaining(problem) }),
    );
  });
});
