import { afterEach, describe, expect, it } from 'vitest';
import { flowControlOf } from '../../../policy/bundle/flow-control-schema.js';
import type { FlowControlSettings } from '../../../policy/queueing/flow-control-settings.js';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS, type PolicyConfig } from '../../config/gateway-config.js';
import { DecisionRing } from '../../decisions/decision-ring.js';
import { FakeWaiting } from '../../flow/fake-waiting.fixture.js';
import { GatewayMetrics } from '../../telemetry/gateway-metrics.js';
import { LiveReplica } from '../replica/live-replica.js';
import { Endpoint } from './endpoint.js';
import type { PlacedRequest } from './placer.js';

const made: LiveReplica[] = [];
afterEach(async () => {
  await Promise.all(made.splice(0).map((replica) => replica.close()));
});

function replicaOf(id: string): LiveReplica {
  const replica = new LiveReplica({ id, url: 'http://127.0.0.1:1', engine: 'vllm', models: ['m'] }, GATEWAY_DEFAULTS);
  replica.healthy(0);
  made.push(replica);
  return replica;
}

/** A request that is placed as soon as it may go. */
class Client extends FakeWaiting {
  placement: PlacedRequest | null = null;
}

function endpointOf(ids: readonly string[], change: Partial<PolicyConfig> = {}) {
  const time = { us: 0 };
  const ring = new DecisionRing(100);
  const config = { ...GATEWAY_DEFAULTS, slowStartMs: 0 };
  const policy = { ...DEFAULT_POLICY, name: 'round-robin', ...change };
  const endpoint = new Endpoint('e', policy, {
    config,
    metrics: new GatewayMetrics(),
    ring,
    log: null,
    warn: () => {},
    nowUs: () => time.us,
  });
  const replicas = ids.map(replicaOf);
  endpoint.setReplicas(replicas);
  function enter(facts = {}): Client {
    const client = new Client(facts);
    client.go = () => {
      client.placement = endpoint.placer.place(client.facts, 0, []);
    };
    endpoint.flow.enter(client);
    return client;
  }
  return { endpoint, enter, policy, replicas, ring, time };
}

const queue = (changes: Partial<FlowControlSettings> = {}): Partial<PolicyConfig> => ({
  flowControl: { ...flowControlOf({}, {}), maxConcurrency: 1, ...changes },
});
const SIGNALS = { atUs: 0, running: 0, waiting: 0, kvUsed: 0, freeBlocks: 0, cacheHitRate: 0, missing: [] };

describe('an endpoint with a queue', () => {
  it('sends on what fits, and the next whenever one has ended', () => {
    const { endpoint, enter } = endpointOf(['a', 'b'], queue());
    const clients = Array.from({ length: 4 }, () => enter());
    const where = () => clients.map(({ placement }) => placement?.replica.id ?? null);
    expect(where()).toEqual(['a', 'b', null, null]);
    endpoint.placer.finish(clients[1]!.placement!);
    endpoint.placer.finish(clients[1]!.placement!);
    expect(where()).toEqual(['a', 'b', 'a', null]);
  });

  it('counts requests sent since the last report of a replica as queued there, for the detector only', () => {
    const settings = { saturationDetector: 'utilization', queueDepthThreshold: 2 };
    const { endpoint, enter, replicas, ring } = endpointOf(['a'], queue(settings));
    endpoint.report(replicas[0]!, SIGNALS);
    const clients = [enter(), enter(), enter()];
    expect(clients.map(({ placement }) => placement !== null)).toEqual([true, true, false]);
    expect(ring.latest(1)[0]!.replicas[0]).toMatchObject({ queued: 0, inFlight: 1 });
    endpoint.placer.finish(clients[0]!.placement!);
    expect(clients[2]!.placement).not.toBeNull();
    const late = [enter(), enter(), enter()];
    endpoint.report(replicas[0]!, { ...SIGNALS, waiting: 1 });
    expect(late.map(({ placement }) => placement !== null)).toEqual([true, false, false]);
    endpoint.report(replicas[0]!, SIGNALS);
    expect(late.every(({ placement }) => placement !== null)).toBe(true);
  });

  it('treats a fleet without a healthy replica as full, and resumes when one is healthy', () => {
    const { endpoint, enter, replicas } = endpointOf(['a'], queue());
    replicas[0]!.unhealthy('x', 1);
    const client = enter();
    expect([client.heard, endpoint.flow.waiting]).toEqual([[], 1]);
    endpoint.setReplicas([replicas[0]!, replicaOf('b')]);
    expect(client.placement?.replica.id).toBe('b');
  });

  it('fails waiting requests when it is removed', () => {
    const { endpoint, enter } = endpointOf(['a'], queue());
    enter();
    const client = enter();
    endpoint.retire();
    expect([client.heard, client.error]).toMatchObject([['endpoint removed'], { status: 503 }]);
    expect(enter().error!.message).toBe("The endpoint 'e' has been removed.");
  });
});

describe('admission at an endpoint', () => {
  it('measures prompts as the gateway does, once', () => {
    const admission = { policy: 'token-bucket', options: { capacity: 4, refill_rate: 1 } };
    const { endpoint, enter } = endpointOf(['a'], { admission });
    let reads = 0;
    const read = endpoint.prompt.read.bind(endpoint.prompt);
    endpoint.prompt.read = (facts, blockSize) => {
      reads++;
      read(facts, blockSize);
    };
    const admitted = enter({ body: { prompt: '0123456789ab' } });
    expect([admitted.facts.inputTokens, admitted.placement !== null, reads]).toEqual([3, true, 1]);
    const refused = enter({ body: { prompt: '0123456789ab' } });
    expect([refused.heard, refused.error!.retryAfterS, reads]).toEqual([['insufficient tokens'], 3, 2]);
  });

  it('considers only the replicas of the requested model, by their reports', () => {
    const admission = { policy: 'gaie-legacy', options: { qd_threshold: 5, kv_threshold: 0.8 } };
    const { endpoint, enter, replicas } = endpointOf(['a', 'b'], { admission });
    replicas[1]!.models = new Set(['n']);
    endpoint.report(replicas[0]!, { ...SIGNALS, waiting: 4 });
    endpoint.report(replicas[1]!, { ...SIGNALS, waiting: 5 });
    expect(enter({ sloClass: 'batch' }).heard).toEqual(['went after 0']);
    expect(enter({ sloClass: 'batch', model: 'n' }).heard).toEqual(['fleet is saturated']);
  });

  it('counts the requests of tenants from before their budgets, on replicas that have left too', () => {
    const { endpoint, enter, policy, replicas } = endpointOf(['a', 'b']);
    const clients = [enter({ tenant: 't' }), enter({ tenant: 't' })];
    endpoint.setPolicy({ ...policy, tenantBudgets: { t: 0.5 }, seatsPerReplica: 1 });
    const batch = { tenant: 't', sloClass: 'batch' };
    expect(enter(batch).heard).toEqual(['tenant is over its budget']);
    endpoint.placer.finish(clients[0]!.placement!);
    expect(enter(batch).heard).toEqual(['went after 0']);
    endpoint.setReplicas([replicas[0]!]);
    expect(enter(batch).heard).toEqual(['tenant is over its budget']);
  });
});

describe('policies of an endpoint, one after the other', () => {
  it('can be rolled back, one by one', () => {
    const { endpoint, policy, time } = endpointOf(['a']);
    const first = endpoint.policyHash;
    time.us = 10;
    endpoint.setPolicy({ ...policy, name: 'lmetric' });
    endpoint.setPolicy({ ...policy, name: 'lmetric' });
    const second = endpoint.policyHash;
    endpoint.setPolicy({ ...policy, ...queue() });
    const third = endpoint.policyHash;
    expect(new Set([first, second, third]).size).toBe(3);
    expect(endpoint.history().map(({ hash }) => hash)).toEqual([third, second, first]);
    time.us = 20;
    expect(endpoint.rollback()).toMatchObject({ hash: second, sinceUs: 20, policy: { name: 'lmetric' } });
    expect([endpoint.policyHash, endpoint.policy.flowControl]).toEqual([second, null]);
    expect([endpoint.rollback()!.hash, endpoint.rollback(), endpoint.policyHash]).toEqual([first, null, first]);
  });

  it('keep what the policy has learnt where routing is unchanged', () => {
    const { endpoint, enter, policy } = endpointOf(['a', 'b', 'c']);
    enter();
    endpoint.setPolicy({ ...policy, ...queue({ maxConcurrency: 10 }), sloPriorities: { x: 1 } });
    expect(enter().placement!.replica.id).toBe('b');
    endpoint.setPolicy({ ...policy, name: 'random' });
    endpoint.setPolicy(policy);
    expect(enter().placement!.replica.id).toBe('a');
  });

  it('are named in every decision', () => {
    const { endpoint, enter, policy, ring } = endpointOf(['a']);
    const first = endpoint.policyHash;
    enter();
    endpoint.setPolicy({ ...policy, ...queue({ maxConcurrency: 10 }) });
    enter();
    expect(ring.latest(2).map(({ policyHash }) => policyHash)).toEqual([endpoint.policyHash, first]);
  });
});

describe('a failed request', () => {
  it('counts against its replica, also when it has left it', () => {
    const { endpoint, enter, replicas } = endpointOf(['a', 'b', 'c']);
    for (const { breaker } of replicas) breaker.options = { failures: 2, share: 1, windowMs: 0, openMs: 1000 };
    for (let i = 0; i < 3; i++) {
      const { placement } = enter();
      endpoint.placer.failed(placement!);
      endpoint.placer.finish(placement!);
    }
    expect(replicas.map(({ breaker }) => breaker.isOpen)).toEqual([false, false, false]);
    endpoint.placer.failedBefore(replicas[1]!);
    expect(replicas.map(({ breaker }) => breaker.isOpen)).toEqual([false, true, false]);
  });
});

describe('load in response headers', () => {
  it('is newer than metrics, and releases a waiting request', () => {
    const settings = { saturationDetector: 'utilization', queueDepthThreshold: 2 };
    const { endpoint, enter, replicas, time } = endpointOf(['a'], queue(settings));
    endpoint.report(replicas[0]!, { ...SIGNALS, running: 8, waiting: 9 });
    const client = enter();
    time.us = 1000;
    endpoint.reportLoad(replicas[0]!, 'nonsense');
    expect(client.placement).toBeNull();
    endpoint.reportLoad(replicas[0]!, 'TEXT named_metrics.num_requests_waiting=1');
    expect(client.placement).not.toBeNull();
    expect(replicas[0]!.signals).toMatchObject({ atUs: 1000, running: 8, waiting: 1 });
  });
});
