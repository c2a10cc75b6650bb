import { describe, expect, it } from 'vitest';
import { createExplanation } from '../explanation.js';
import { PolicyHost } from './policy-host.js';
import { OPEN_ADMISSION, type PolicySettings } from './policy-settings.js';
import { LIVE, SIMULATED, type World } from './worlds.js';

const settingsOf = (name: string, more: Partial<PolicySettings> = {}): PolicySettings => ({
  ...OPEN_ADMISSION,
  routing: { policy: name, options: {} },
  blockSize: 16,
  cacheBlocks: 100,
  ...more,
});

interface HostFacts {
  allBooks?: boolean;
  world?: World;
  settings?: Partial<PolicySettings>;
}

function hostFor(name: string, { allBooks = false, settings, world = SIMULATED }: HostFacts = {}) {
  const host = new PolicyHost(settingsOf(name, settings), { world, seed: 1, mostReplicas: 8, allBooks });
  const describeRequest = (nowUs: number, inputTokens: number, sloClass = '', tenant = '', session = '') => {
    host.describe(nowUs, inputTokens, host.priorities.classOf(sloClass), host.tenantNumber(tenant), session);
  };
  /** Places a prompt of these blocks; the name of its replica. */
  const route = (request: number, blocks: readonly number[] = [], session = '') => {
    describeRequest(0, blocks.length * 16, '', '', session);
    Object.assign(host.features, { blocks: Int32Array.from(blocks), blockCount: blocks.length });
    const chosen = host.pick();
    if (chosen >= 0) host.placed(request, chosen);
    return host.view.ids[chosen];
  };
  return { describeRequest, host, route };
}

const column = (values: Int32Array | Float64Array | Uint8Array, size: number) => Array.from(values.subarray(0, size));

describe('the fleet of a PolicyHost', () => {
  it('is empty at first', () => {
    const { host, route } = hostFor('round-robin');
    expect([route(0), host.slot('a'), host.finished(0)]).toEqual([undefined, -1, false]);
    host.setReplicas(['a']);
    expect([route(1), host.slot('a')]).toEqual(['a', 0]);
    host.setReplicas([]);
    expect(route(2)).toBeUndefined();
  });

  it('keeps the state of the replicas that stay, in any slot', () => {
    const { host, route } = hostFor('least-loaded', { allBooks: true });
    host.setReplicas(['a', 'b', 'c']);
    host.view.queued.set([7, 0, 5]);
    host.view.kvUsed.set([0.5, 0.25, 0.75]);
    expect(route(0, [1, 2])).toBe('b');
    host.setReplicas(['c', 'd', 'b']);
    const { queued, kvUsed, inFlight, indexedBlocks, size } = host.view;
    expect(size).toBe(3);
    expect([queued, kvUsed, inFlight, indexedBlocks].map((values) => column(values, 4))).toEqual([
      [5, 0, 0, 0],
      [0.75, 0, 0.25, 0],
      [0, 0, 1, 0],
      [0, 0, 2, 0],
    ]);
    expect([host.slot('a'), host.slot('b'), host.slot('d')]).toEqual([-1, 2, 1]);
    host.setReplicas(['c', 'd']);
    host.setReplicas(['b']);
    expect([inFlight[0], host.finished(0)]).toEqual([0, false]);
  });

  it('is followed by policies that learn', () => {
    const { host, route } = hostFor('sticky');
    host.setReplicas(['a', 'b']);
    expect(route(0, [], 's')).toBe('a');
    host.setReplicas(['b', 'a']);
    expect([route(1, [], 's'), route(2, [], 's')]).toEqual(['a', 'a']);
  });
});

describe('the books of a PolicyHost', () => {
  it('change when a request is placed, has its first token and ends', () => {
    const { host, route } = hostFor('lmetric');
    host.setReplicas(['a', 'b']);
    expect([route(0, [1, 2]), route(1, [3])]).toEqual(['a', 'b']);
    expect(column(host.view.pendingPrefillTokens, 2)).toEqual([32, 16]);
    expect([host.firstToken(0), host.firstToken(0), host.finished(0), host.finished(0)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(column(host.view.inFlight, 2)).toEqual([0, 1]);
  });

  it('hold what policies read, or everything', () => {
    expect([hostFor('lmetric'), hostFor('load-only'), hostFor('load-only', { allBooks: true })]).toMatchObject([
      { host: { needsBlocks: true } },
      { host: { needsBlocks: false } },
      { host: { needsBlocks: true } },
    ]);
    expect(['round-robin', 'load-only'].map((name) => hostFor(name).host.looksAtFleet)).toEqual([false, true]);
    expect(hostFor('round-robin', { settings: { tenantBudgets: { t: 1 } } }).host.looksAtFleet).toBe(true);
  });
});

describe('eligible replicas', () => {
  it('are all, none, or those without a reason', () => {
    const { host, route } = hostFor('round-robin');
    host.setReplicas(['a', 'b', 'c']);
    host.allow(false);
    expect(route(0)).toBeUndefined();
    host.allow(true);
    expect([route(1), route(2)]).toEqual(['a', 'b']);
    host.restrict(['x', null]);
    expect(column(host.view.eligible, 3)).toEqual([0, 1, 1]);
    expect(route(3)).toBe('b');
    host.allow(true);
    expect(column(host.view.eligible, 3)).toEqual([1, 1, 1]);
  });

  it('are all of a fleet that has changed', () => {
    const { host } = hostFor('round-robin');
    host.setReplicas(['a', 'b']);
    host.restrict(['x', 'y']);
    host.setReplicas(['b', 'c']);
    expect(column(host.view.eligible, 2)).toEqual([1, 1]);
  });

  it('are explained by the reasons of the others, and only for the last restriction', () => {
    const { host } = hostFor('least-loaded');
    const why = createExplanation(8);
    host.setReplicas(['a', 'b']);
    host.restrict(['ill', null]);
    expect([host.pick(why), [...why.removed], why.tied]).toEqual([1, [[0, 'ill']], 1]);
    host.allow(true);
    expect([host.pick(why), [...why.removed], why.tied]).toEqual([0, [], 2]);
  });
});

describe('requests', () => {
  it('are described by class, priority, tenant and session', () => {
    const { describeRequest, host } = hostFor('round-robin', {
      settings: { sloPriorities: { gold: 9, standard: 5 } },
    });
    describeRequest(7, 30, 'gold', 't', 's');
    expect(host.features).toMatchObject({ nowUs: 7, inputTokens: 30, sloClass: 'gold', priority: 9, session: 's' });
    const { tenant } = host.features;
    describeRequest(8, 30, 'standard', 'u', '');
    expect(host.features).toMatchObject({ sloClass: 'standard', priority: 5, session: '' });
    expect(host.features.tenant).not.toBe(tenant);
    // Without a class, a request has the default priority and not the one given to 'standard'.
    describeRequest(9, 30);
    expect(host.features).toMatchObject({ sloClass: 'standard', priority: 3, tenant: -1 });
    describeRequest(9, 30, '', 't', '');
    expect(host.features.tenant).toBe(tenant);
  });

  it('are refused by the tenant budget first, then by the admission policy', () => {
    const { describeRequest, host } = hostFor('round-robin', {
      settings: {
        admission: { policy: 'token-bucket', options: { capacity: 10, refill_rate: 10 } },
        tenantBudgets: { t: 0 },
      },
    });
    host.setReplicas(['a']);
    const refusal = (tenant: string, sloClass: string) => {
      describeRequest(0, 10, sloClass, tenant, '');
      return [host.refuse(), host.retryAfterUs()];
    };
    expect(host.admitsAll).toBe(false);
    expect(refusal('t', 'batch')[0]).toBeNull();
    expect(refusal('t', 'batch')).toEqual(['insufficient tokens', 1_000_001]);
    host.placed(0, host.pick());
    expect(refusal('t', 'batch')).toEqual(['tenant is over its budget', Number.NaN]);
    expect(refusal('t', 'critical')[0]).toBe('insufficient tokens');
    host.finished(0);
    expect(refusal('t', 'batch')[0]).toBe('insufficient tokens');
  });

  it('are all admitted without a budget and a policy that refuses', () => {
    expect(hostFor('round-robin').host.admitsAll).toBe(true);
    expect(hostFor('round-robin', { settings: { tenantBudgets: { t: 1 } } }).host.admitsAll).toBe(false);
    const { describeRequest, host } = hostFor('round-robin', {
      settings: { admission: { policy: 'reject-all', options: {} } },
    });
    describeRequest(0, 1);
    expect([host.admitsAll, host.refuse(), host.retryAfterUs()]).toEqual([
      false,
      'all requests are refused',
      Number.NaN,
    ]);
  });
});

describe('another policy', () => {
  it('finds requests in flight, and the prompts sent to each replica, in the books', () => {
    const { host, route } = hostFor('round-robin', { allBooks: true });
    host.setReplicas(['a', 'b']);
    expect([route(0, [1]), route(1, [2, 3])]).toEqual(['a', 'b']);
    host.setPolicies(settingsOf('lmetric', { routing: { policy: 'lmetric', options: { block_size: 16 } } }));
    // (16 + 32) x 1 against (32 + 0) x 1: the second was sent the prompt before.
    expect(route(2, [2, 3])).toBe('b');
    expect([host.finished(0), host.finished(2)]).toEqual([true, true]);
  });

  it('with blocks of another size starts an empty index and keeps the counts', () => {
    const { host, route } = hostFor('lpwl', { allBooks: true });
    host.setReplicas(['a', 'b']);
    route(0, [1, 2]);
    host.setPolicies(settingsOf('lpwl', { blockSize: 32 }));
    expect([host.features.blockSize, host.view.indexedBlocks[0], host.view.inFlight[0]]).toEqual([32, 0, 1]);
    expect(route(1, [1, 2])).toBe('b');
    host.setPolicies(settingsOf('lpwl', { blockSize: 32, cacheBlocks: 0 }));
    expect(host.view.indexedBlocks[1]).toBe(0);
  });

  it('with the same name and options keeps its state', () => {
    const { host, route } = hostFor('round-robin', { allBooks: true });
    host.setReplicas(['a', 'b', 'c']);
    route(0);
    host.setPolicies(settingsOf('round-robin', { sloPriorities: { gold: 9 } }));
    expect(route(1)).toBe('b');
    host.setPolicies(settingsOf('least-loaded'));
    host.setPolicies(settingsOf('round-robin'));
    expect(route(2)).toBe('a');
  });

  it('with the same admission keeps its state; another one starts fresh', () => {
    const bucket = (capacity: number): Partial<PolicySettings> => ({
      admission: { policy: 'token-bucket', options: { capacity, refill_rate: 1 } },
    });
    const { describeRequest, host } = hostFor('round-robin', { allBooks: true, settings: bucket(10) });
    const refuse = () => {
      describeRequest(0, 10);
      return host.refuse();
    };
    expect([refuse(), refuse()]).toEqual([null, 'insufficient tokens']);
    host.setPolicies(settingsOf('least-loaded', bucket(10)));
    expect(refuse()).toBe('insufficient tokens');
    host.setPolicies(settingsOf('least-loaded', bucket(11)));
    expect(refuse()).toBeNull();
  });

  it('counts budgets from what is in flight, over the seats of the current fleet', () => {
    const { describeRequest, host } = hostFor('round-robin', { allBooks: true });
    host.setReplicas(['a', 'b']);
    const refuse = () => {
      describeRequest(0, 10, 'batch', 't', '');
      return host.refuse();
    };
    for (let request = 0; request < 2; request++) {
      refuse();
      host.placed(request, host.pick());
    }
    host.setPolicies(settingsOf('round-robin', { tenantBudgets: { t: 0.5 }, seatsPerReplica: 2 }));
    expect(refuse()).toBeNull();
    host.setReplicas(['a']);
    expect(refuse()).toBe('tenant is over its budget');
    // It runs on a replica that has left the fleet, and counts until it ends.
    host.finished(1);
    expect(refuse()).toBeNull();
  });
});

describe('worlds', () => {
  it('draw among equals only where live, unless the options set it', () => {
    const tieBreak = (world: World, options = {}) =>
      hostFor('weighted', { world, settings: { routing: { policy: 'weighted', options } } }).host.policies
        .routingOptions.tie_break;
    expect([tieBreak(LIVE), tieBreak(SIMULATED)]).toEqual(['random', 'first']);
    expect([tieBreak(LIVE, { tie_break: 'first' }), tieBreak(SIMULATED, { tie_break: 'random' })]).toEqual([
      'first',
      'random',
    ]);
    expect(hostFor('round-robin', { world: LIVE }).host.policies.routingOptions).toEqual({});
  });

  it('draw the same for the same seed, under any policy name', () => {
    const draws = (name: string, seed: number) => {
      const host = new PolicyHost(settingsOf(name), { world: LIVE, seed, mostReplicas: 64, allBooks: true });
      host.setReplicas(Array.from({ length: 64 }, (_, i) => `r${i}`));
      return Array.from({ length: 8 }, () => host.pick());
    };
    expect(draws('least-loaded', 1)).toEqual(draws('load-only', 1));
    expect(draws('least-loaded', 1)).not.toEqual(draws('least-loaded', 2));
  });
});
