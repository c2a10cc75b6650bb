import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS } from '../config/gateway-config.js';
import { DecisionLog } from '../decisions/decision-log.js';
import { DecisionRing } from '../decisions/decision-ring.js';
import { DecisionReplay } from '../decisions/replay-decisions.js';
import { Endpoint } from '../fleet/endpoint/endpoint.js';
import type { PlacedRequest } from '../fleet/endpoint/placer.js';
import { LiveReplica } from '../fleet/replica/live-replica.js';
import { fakeFacts } from '../request/fake-facts.fixture.js';
import { GatewayMetrics } from '../telemetry/gateway-metrics.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-predicted-'));
const replicas = ['a', 'b', 'c'].map(
  (id) => new LiveReplica({ id, url: 'http://127.0.0.1:1', engine: 'vllm', models: ['m'] }, GATEWAY_DEFAULTS),
);
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.close()));
  rmSync(folder, { recursive: true });
});

const quick = fakeProfile();
const slow = fakeProfile({ withPrefill: [{ tokens: 1, us: 90_000 }], decodeOnly: [{ tokens: 1, us: 25_000 }] });

it('decides again what was decided by predictions: the log has profiles, times and targets', () => {
  const path = join(folder, 'decisions.jsonl');
  const log = new DecisionLog(path, (error) => {
    throw error;
  });
  let nowUs = 0;
  const options = { slo: { batch: { ttft_ms: 2 } }, shed: true };
  const endpoint = new Endpoint(
    'e',
    { ...DEFAULT_POLICY, name: 'predicted-latency', options },
    {
      config: { ...GATEWAY_DEFAULTS, slowStartMs: 0 },
      metrics: new GatewayMetrics(),
      ring: new DecisionRing(10),
      log,
      warn: () => {},
      nowUs: () => nowUs,
    },
  );
  for (const replica of replicas) replica.healthy(0);
  endpoint.profiles.set('a', slow);
  endpoint.setReplicas(replicas);
  const rules = new Map<string, number>();
  const open: PlacedRequest[] = [];
  let refused = 0;
  for (let i = 0; i < 300; i++) {
    nowUs += 4000 + (i % 7) * 900;
    if (i === 40) for (const id of ['b', 'c']) endpoint.profiles.set(id, quick);
    if (i === 200) endpoint.profiles.set('b', slow);
    const facts = fakeFacts({
      id: `q${i}`,
      body: { prompt: `${i % 5};`.repeat(40 + 37 * (i % 11)) },
      streams: i % 6 !== 0,
      sloClass: i % 9 === 0 ? 'batch' : 'standard',
      sloTtftUs: i % 10 === 0 ? 20_000 : 0,
    });
    try {
      open.push(endpoint.placer.place(facts, 0, [])!);
    } catch (error) {
      refused++;
      expect((error as Error).message).toContain('no replica can meet its latency target');
    }
    const { lastRule } = endpoint.placer;
    rules.set(lastRule, (rules.get(lastRule) ?? 0) + 1);
    nowUs += 1000;
    if (open.length > 3) endpoint.placer.firstToken(open.at(-2)!, i % 30 !== 0);
    if (open.length > 6) endpoint.placer.finish(open.shift()!, i % 40);
  }
  log.close();
  expect(refused).toBeGreaterThan(3);
  expect(rules.get('no latency profile: least prompt work times requests in flight')).toBe(40);
  expect(rules.get('most headroom')).toBeGreaterThan(3);
  expect(rules.get('least predicted latency')).toBeGreaterThan(100);

  const replay = new DecisionReplay(path);
  for (const [i, line] of readFileSync(path, 'utf8').trimEnd().split('\n').entries()) replay.line(line, i + 1);
  expect(replay.decisions).toBe(300);
  expect(replay.differences).toEqual([]);
});
