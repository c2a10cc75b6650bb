import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS } from '../../config/gateway-config.js';
import { DecisionRing } from '../../decisions/decision-ring.js';
import { type FactsChange, fakeFacts } from '../../request/fake-facts.fixture.js';
import type { RequestFacts } from '../../request/request-facts.js';
import { GatewayMetrics } from '../../telemetry/gateway-metrics.js';
import { LiveReplica } from '../replica/live-replica.js';
import { Endpoint } from './endpoint.js';
import type { PlacedRequest } from './placer.js';

const made: LiveReplica[] = [];
afterEach(async () => {
  await Promise.all(made.splice(0).map((replica) => replica.close()));
});

function replicaOf(id: string, readySinceMs: number | null = 0, host = '127.0.0.1'): LiveReplica {
  const config = { id, url: `http://${host}:1`, engine: 'vllm', models: ['m'] };
  const replica = new LiveReplica(config, GATEWAY_DEFAULTS);
  if (readySinceMs !== null) replica.healthy(readySinceMs);
  made.push(replica);
  return replica;
}

/** An endpoint with a manual clock. */
function endpointOf(replicas: LiveReplica[], policy = 'least-loaded') {
  const time = { ms: 0 };
  const ring = new DecisionRing(1000);
  const endpoint = new Endpoint(
    'e',
    { ...DEFAULT_POLICY, name: policy },
    {
      config: { ...GATEWAY_DEFAULTS, slowStartMs: 10_000 },
      metrics: new GatewayMetrics(),
      ring,
      log: null,
      warn: () => {},
      nowUs: () => time.ms * 1000,
    },
  );
  endpoint.setReplicas(replicas);
  return { endpoint, ring, time };
}

function factsOf(change: FactsChange = {}): RequestFacts {
  return fakeFacts({ body: { prompt: 'x'.repeat(640) }, ...change });
}

const inFlight = (endpoint: Endpoint) => endpoint.replicas.map((replica) => endpoint.inFlightOf(replica));

/** Places `count` requests that do not end. */
function place(endpoint: Endpoint, count: number): PlacedRequest[] {
  return Array.from({ length: count }, () => endpoint.placer.place(factsOf(), 0, [])!);
}

describe('Endpoint', () => {
  it('books a request when it is placed and releases it once', () => {
    const { endpoint } = endpointOf([replicaOf('a'), replicaOf('b')]);
    const [first, second, third] = place(endpoint, 3);
    expect([endpoint.inFlight, inFlight(endpoint).sort()]).toEqual([3, [1, 2]]);
    endpoint.placer.firstToken(first!, true);
    endpoint.placer.firstToken(first!, true);
    for (const placement of [first, first, second, third, second]) endpoint.placer.finish(placement!);
    expect([endpoint.inFlight, ...inFlight(endpoint)]).toEqual([0, 0, 0]);
    expect(endpoint.replicas.map(({ active }) => active)).toEqual([0, 0]);
  });

  it('reuses the numbers of requests', () => {
    const { endpoint } = endpointOf([replicaOf('a')]);
    const numbers = new Set<number>();
    for (let i = 0; i < 100; i++) {
      const pair = place(endpoint, 2);
      for (const placement of pair) {
        numbers.add(placement.request);
        endpoint.placer.finish(placement);
      }
    }
    expect(numbers.size).toBe(2);
  });

  it('places nothing without an eligible replica, and says why each is not eligible', () => {
    const [tried, starting] = [replicaOf('a'), replicaOf('b', null)];
    const { endpoint, ring } = endpointOf([tried, starting]);
    expect(endpoint.placer.place(factsOf(), 1, [tried])).toBeNull();
    expect(endpoint.noReplicaError('m').message).toContain('tried before; starting: not checked yet');
    expect(ring.find('q')).toMatchObject({ replica: null, attempt: 1 });
    expect([endpoint.inFlight, endpoint.serves('m'), endpoint.serves('n')]).toEqual([0, true, false]);
    endpoint.setReplicas([]);
    expect(endpoint.placer.place(factsOf(), 0, [])).toBeNull();
    expect(endpoint.noReplicaError('m').message).toContain('there are none');
  });

  it('leaves a host where a replica broke off only while another host can take the request', () => {
    const [a, b, c] = [replicaOf('a'), replicaOf('b'), replicaOf('c', 0, 'localhost')];
    const { endpoint } = endpointOf([a, b, c]);
    const retried = () => endpoint.placer.place(factsOf(), 1, [a], [a.host])!.replica.id;
    for (let i = 0; i < 3; i++) expect(retried()).toBe('c');
    c.drain();
    expect(retried()).toBe('b');
  });

  it('knows whether there is another replica to try', () => {
    const [a, b, c] = [replicaOf('a'), replicaOf('b'), replicaOf('c', null)];
    const { endpoint } = endpointOf([a, b, c]);
    expect(endpoint.hasOther('m', [], a)).toBe(true);
    expect(endpoint.hasOther('m', [b], a)).toBe(false);
    expect(endpoint.hasOther('n', [], a)).toBe(false);
  });

  it('cuts prompts as the policy does, and salts keep them apart', () => {
    const { endpoint, ring } = endpointOf([replicaOf('a')], 'weighted');
    const blocksOf = (id: string, change: FactsChange = {}) => {
      endpoint.placer.finish(endpoint.placer.place(factsOf({ id, ...change }), 0, [])!);
      const { blockCount, replicas } = ring.find(id)!;
      return [blockCount, replicas[0]!.routedBlocks];
    };
    expect(blocksOf('1')).toEqual([10, 0]);
    expect(blocksOf('2')).toEqual([10, 10]);
    expect(blocksOf('3', { cacheSalt: 's' })).toEqual([10, 0]);
    expect(blocksOf('4', { body: { prompt: 5 } })).toEqual([0, 0]);
  });

  it('gives a new replica little at first, and its full share in time', () => {
    const { endpoint, ring, time } = endpointOf([replicaOf('old'), replicaOf('new', 20_000)]);
    time.ms = 20_000;
    place(endpoint, 40);
    expect(inFlight(endpoint)).toEqual([39, 1]);
    expect(ring.find('q')!.replicas[1]!.removed).toBe('slow start');
    time.ms = 24_000;
    place(endpoint, 30);
    const [old, young] = inFlight(endpoint);
    expect(young).toBeGreaterThan(10);
    expect(young).toBeLessThan(old! / 2);
    time.ms = 30_000;
    place(endpoint, 60);
    expect(inFlight(endpoint)).toEqual([65, 65]);
  });

  it('treats all alike when all are new', () => {
    const { endpoint, time } = endpointOf([replicaOf('a'), replicaOf('b'), replicaOf('c')]);
    time.ms = 10;
    place(endpoint, 30);
    expect(inFlight(endpoint)).toEqual([10, 10, 10]);
  });

  it('keeps its books when replicas come and go', () => {
    const [a, b] = [replicaOf('a'), replicaOf('b')];
    const { endpoint } = endpointOf([a, b], 'round-robin');
    const placements = place(endpoint, 4);
    endpoint.setReplicas([replicaOf('c', -20_000), b]);
    expect([endpoint.inFlight, inFlight(endpoint), a.active]).toEqual([4, [0, 2], 2]);
    for (const placement of placements) endpoint.placer.finish(placement);
    expect([endpoint.inFlight, inFlight(endpoint), a.active]).toEqual([0, [0, 0], 0]);
  });
});
