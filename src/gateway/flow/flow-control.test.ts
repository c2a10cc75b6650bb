import { describe, expect, it } from 'vitest';
import { flowControlOf } from '../../policy/bundle/flow-control-schema.js';
import { PolicyHost } from '../../policy/host/policy-host.js';
import { LIVE } from '../../policy/host/worlds.js';
import type { FlowControlSettings } from '../../policy/queueing/flow-control-settings.js';
import { ApiError } from '../../protocol/errors.js';
import { DEFAULT_POLICY, type PolicyConfig } from '../config/gateway-config.js';
import { hostSettings } from '../decisions/deciding-fleet.js';
import type { FactsChange } from '../request/fake-facts.fixture.js';
import type { RequestFacts } from '../request/request-facts.js';
import { FakeWaiting } from './fake-waiting.fixture.js';
import { FlowControl } from './flow-control.js';

const NEVER = Number.POSITIVE_INFINITY;
const queue = (changes: Partial<FlowControlSettings> = {}): Partial<PolicyConfig> => ({
  flowControl: { ...flowControlOf({}, {}), maxConcurrency: 1, requestTtlUs: 0, ...changes },
});
const bucket = (capacity: number, refill_rate: number): Partial<PolicyConfig> => ({
  admission: { policy: 'token-bucket', options: { capacity, refill_rate } },
});

/** Flow control in front of a fleet of one replica, at a time set by the test. Prompts have as many tokens as characters. */
function flowOf(change: Partial<PolicyConfig> = {}) {
  const policy = { ...DEFAULT_POLICY, ...change };
  const host = new PolicyHost(hostSettings(policy), { world: LIVE, seed: 1, mostReplicas: 4, allBooks: true });
  host.setReplicas(['r']);
  const { view } = host;
  /** Tenants of the requests in flight, by number. */
  const tenants: string[] = [];
  const time = { us: 0, alarmUs: NEVER, wake: () => {} };
  const flow = new FlowControl(
    policy,
    {
      nowUs: () => time.us,
      tokensOf: ({ body }) => {
        const prompt = body.value('prompt') as string;
        if (prompt === 'bad') throw new ApiError('malformed', 'no');
        if (prompt === 'bug') throw new Error('bug');
        return prompt.length;
      },
      lookFor: () => {},
      saturationView: () => view,
    },
    host,
    (wake) => {
      time.wake = wake;
      return {
        set: (atUs) => {
          time.alarmUs = atUs;
        },
      };
    },
  );
  function place({ sloClass, tenant }: Pick<RequestFacts, 'sloClass' | 'tenant'>): void {
    host.describe(time.us, 1, host.priorities.classOf(sloClass), host.tenantNumber(tenant), '');
    host.placed(tenants.push(tenant) - 1, 0);
  }
  function enter(facts: FactsChange = {}): FakeWaiting {
    const waiting = new FakeWaiting(facts);
    waiting.go = () => place(waiting.facts);
    flow.enter(waiting);
    return waiting;
  }
  function end(tenant = ''): void {
    const request = tenants.indexOf(tenant);
    delete tenants[request];
    host.finished(request);
    flow.departed();
  }
  function runTo(us: number): void {
    while (time.alarmUs <= us) {
      time.us = time.alarmUs;
      time.alarmUs = NEVER;
      time.wake();
    }
    time.us = us;
  }
  function configure(next: Partial<PolicyConfig>): void {
    host.setPolicies(hostSettings({ ...DEFAULT_POLICY, ...next }));
    flow.configure({ ...DEFAULT_POLICY, ...next });
  }
  return { configure, end, enter, flow, place, runTo, time, view };
}

describe('without an admission policy and a queue', () => {
  it('every request goes at once', () => {
    const { enter, flow } = flowOf();
    expect(enter().heard).toEqual(['went after 0']);
    expect([flow.counts.admitted, flow.waiting, flow.waitingByClass().size]).toEqual([1, 0, 0]);
  });
});

describe('admission', () => {
  it('reports why a request is refused, and when to retry', () => {
    const { enter, flow, time } = flowOf(bucket(10, 2));
    expect(enter({ body: { prompt: '0123456789' } }).heard).toEqual(['went after 0']);
    const refused = enter({ body: { prompt: '01234' } });
    expect(refused.heard).toEqual(['insufficient tokens']);
    expect(refused.error).toMatchObject({
      status: 429,
      message: 'The request was not admitted: insufficient tokens. Try again in 3 s.',
      retryAfterS: 3,
    });
    time.us = 3e6;
    expect(enter({ body: { prompt: '01234' } }).heard).toEqual(['went after 0']);
    expect([flow.counts.admitted, [...flow.counts.refused]]).toEqual([2, [['insufficient tokens', 1]]]);
  });

  it('reports when a retry never helps', () => {
    const { error } = flowOf(bucket(2, 2)).enter({ body: { prompt: '0123' } });
    expect(error).toMatchObject({ status: 429, retryAfterS: null, message: expect.stringContaining('never will be') });
  });

  it('looks at the fleet where the policy reads it', () => {
    const { enter, view } = flowOf({ admission: { policy: 'tier-shed', options: { threshold: 2, min_priority: 0 } } });
    view.running[0] = 3;
    expect(enter({ sloClass: 'batch' }).heard).toEqual(['tier shed under load']);
    expect(enter({ sloClass: 'batch' }).error!.retryAfterS).toBe(1);
    expect(enter().heard).toEqual(['went after 0']);
  });

  it('knows classes by their configured priorities', () => {
    const admission = { policy: 'tier-shed', options: { threshold: 0, min_priority: 5 } };
    const { enter, view } = flowOf({ admission, sloPriorities: { gold: 5 } });
    view.running[0] = 1;
    expect(enter({ sloClass: 'gold' }).heard).toEqual(['went after 0']);
    expect(enter({ sloClass: 'critical' }).heard).toEqual(['tier shed under load']);
  });

  it('refuses a request whose prompt cannot be read, and does not hide bugs', () => {
    const { enter } = flowOf(bucket(10, 2));
    expect(enter({ body: { prompt: 'bad' } }).error).toMatchObject({ status: 400 });
    expect(() => enter({ body: { prompt: 'bug' } })).toThrow('bug');
  });

  it('holds tenants to their share of the seats, counting what is already in flight', () => {
    const { configure, end, enter } = flowOf();
    enter({ tenant: 't' });
    enter({ tenant: 't' });
    configure({ tenantBudgets: { t: 0.5 }, seatsPerReplica: 2 });
    const over = enter({ tenant: 't', sloClass: 'batch' });
    expect([over.heard, over.error!.retryAfterS]).toEqual([['tenant is over its budget'], 1]);
    expect(enter({ tenant: 'u', sloClass: 'batch' }).heard).toEqual(['went after 0']);
    end('t');
    expect(enter({ tenant: 't', sloClass: 'batch' }).heard).toEqual(['went after 0']);
  });
});

describe('the queue', () => {
  it('dispatches no request while the fleet is full, and the next when one has ended', () => {
    const { end, enter, flow, time } = flowOf(queue());
    const [a, b, c] = [enter(), enter(), enter({ sloClass: 'critical' })];
    expect([a.heard, b.heard, c.heard, flow.waiting]).toEqual([['went after 0'], [], [], 2]);
    expect([...flow.waitingByClass()]).toEqual([
      ['standard', 1],
      ['critical', 1],
    ]);
    time.us = 500;
    end();
    expect([b.heard, c.heard]).toEqual([[], ['went after 500']]);
    time.us = 700;
    end();
    expect([b.heard, flow.waiting]).toEqual([['went after 700'], 0]);
    expect(flow.counts).toMatchObject({ admitted: 3, dispatched: 3, queuedUs: 1200 });
  });

  it('dispatches the request with the earliest deadline first', () => {
    const sloTargetsUs = { gold: 50, standard: 900 };
    const { end, enter } = flowOf(queue({ dispatchOrder: 'slo-deadline', sloTargetsUs }));
    enter();
    const [a, b, c] = ['constructor', 'standard', 'gold'].map((sloClass) => enter({ sloClass }));
    end();
    expect([a!.heard.length, b!.heard.length, c!.heard.length]).toEqual([0, 0, 1]);
    end();
    expect([a!.heard.length, b!.heard.length]).toEqual([0, 1]);
  });

  it('counts classes that are not configured together', () => {
    const { enter, flow } = flowOf(queue());
    for (const sloClass of ['standard', 'x', 'y']) enter({ sloClass });
    expect([...flow.waitingByClass()]).toEqual([['other', 2]]);
  });

  it('dispatches as many as may go when replicas report or join', () => {
    const { enter, flow, view } = flowOf(queue());
    view.inFlight[0] = 1;
    const all = [enter(), enter(), enter()];
    view.inFlight[0] = -1;
    flow.fleetChanged();
    expect(all.map(({ heard }) => heard.length)).toEqual([1, 1, 0]);
  });

  it('drops requests that leave, and dispatches those behind them', () => {
    const { end, enter, flow, time } = flowOf(
      queue({ dispatchOrder: 'fifo', usageLimitThreshold: 0.5, maxConcurrency: 2 }),
    );
    enter();
    const batch = enter({ sloClass: 'batch' });
    time.us = 40;
    const standard = enter();
    expect([batch.heard, standard.heard]).toEqual([[], []]);
    expect([flow.leave(batch), flow.leave(batch)]).toEqual([40, -1]);
    expect([batch.heard, batch.queueSlot, standard.heard, flow.waiting]).toEqual([[], -1, ['went after 0'], 0]);
    end();
    expect(flow.counts.left).toBe(1);
  });

  it('rejects when it is full, with a retry time from how long others wait', () => {
    const { end, enter, flow, time } = flowOf(queue({ maxQueueDepth: 1 }));
    enter();
    const waits = enter();
    const rejected = enter();
    expect(rejected.heard).toEqual(['the gateway queue is full']);
    expect(rejected.error).toMatchObject({ status: 429, retryAfterS: 1 });
    expect(rejected.error!.message).toContain('1 requests wait');
    time.us = 40e6;
    end();
    expect(waits.heard).toEqual(['went after 40000000']);
    enter();
    expect(enter().error!.retryAfterS).toBe(3);
    time.us = 4e9;
    end();
    enter();
    expect(enter().error!.retryAfterS).toBe(60);
    expect(flow.counts.rejected).toBe(3);
  });

  it('gives the place of a sheddable request to a more important one', () => {
    const { enter, flow } = flowOf(queue({ maxQueueDepth: 1, queueShedding: true }));
    enter();
    const batch = enter({ sloClass: 'batch' });
    const critical = enter({ sloClass: 'critical' });
    expect([batch.heard, critical.heard]).toEqual([['shed from the gateway queue for a more important one'], []]);
    expect(batch.error).toMatchObject({ status: 429, retryAfterS: 1 });
    expect([flow.counts.shed, flow.waiting]).toEqual([1, 1]);
  });

  it('reports the wait of requests that it refuses', () => {
    const { enter, flow, runTo, time } = flowOf(queue({ maxQueueDepth: 2, queueShedding: true, requestTtlUs: 1000 }));
    enter();
    const [late, shed] = [enter(), enter({ sloClass: 'batch' })];
    time.us = 10;
    const [rejected, turnedOut] = [enter({ sloClass: 'batch' }), enter({ sloClass: 'critical' })];
    runTo(1000);
    time.us = 1005;
    flow.close(new ApiError('unavailable', 'gone'), 'draining');
    const all = [late, shed, rejected, turnedOut, enter()];
    expect(all.map(({ refusedAfterUs }) => refusedAfterUs)).toEqual([1000, 10, -1, 995, -1]);
  });

  it('refuses requests that have waited too long', () => {
    const { enter, flow, runTo, time } = flowOf(queue({ requestTtlUs: 1000 }));
    enter();
    const first = enter();
    time.us = 600;
    const second = enter();
    runTo(999);
    expect(first.heard).toEqual([]);
    runTo(1000);
    expect([first.heard, second.heard]).toEqual([['waited too long in the gateway queue'], []]);
    expect(first.error).toMatchObject({ status: 504, kind: 'queue_timeout', retryAfterS: 1 });
    runTo(1600);
    expect([second.heard.length, flow.waiting, flow.counts.expired, time.alarmUs]).toEqual([1, 0, 2, NEVER]);
  });

  it('sets no alarm when no request waits', () => {
    const { enter, time } = flowOf(queue({ requestTtlUs: 1000 }));
    enter();
    expect(time.alarmUs).toBe(NEVER);
  });

  it('with ticks, dispatches at ticks only', () => {
    const { end, enter, flow, runTo, time } = flowOf(queue({ dispatchTickUs: 100 }));
    enter();
    const [a, b] = [enter(), enter()];
    end();
    flow.fleetChanged();
    expect(a.heard).toEqual([]);
    runTo(100);
    expect([a.heard, b.heard]).toEqual([['went after 100'], []]);
    end();
    runTo(200);
    expect([b.heard, time.alarmUs]).toEqual([['went after 200'], NEVER]);
  });

  it('handles dispatches caused by a departing request after it, however many there are', () => {
    const { enter, flow, view } = flowOf(queue());
    view.inFlight[0] = 1;
    const order: number[] = [];
    const all = Array.from({ length: 5000 }, (_, i) => {
      const waiting = enter();
      // It fails at once.
      waiting.go = () => {
        order.push(i);
        flow.departed();
      };
      return waiting;
    });
    view.inFlight[0] = 0;
    flow.departed();
    expect(order).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    expect(all.filter(({ heard }) => heard[0] === 'the gateway queue is full')).toHaveLength(4000);
  });

  it('continues when the callback of a dispatched request throws', () => {
    const { end, enter, place } = flowOf(queue());
    enter();
    const bad = enter();
    bad.go = () => {
      place(bad.facts);
      throw new Error('bug');
    };
    const good = enter();
    expect(() => end()).toThrow('bug');
    end();
    expect(good.heard).toEqual(['went after 0']);
  });
});

describe('another policy', () => {
  it('keeps waiting requests, in their order, through any change', () => {
    const { configure, end, enter, flow, time } = flowOf(queue());
    enter();
    const waiting = ['batch', 'critical', 'standard', 'gold'].map((sloClass) => enter({ sloClass }));
    time.us = 10;
    configure({ ...queue({ maxQueueDepth: 2, fairnessPolicy: 'round-robin' }), ...bucket(5, 5) });
    configure({ ...queue({ dispatchTickUs: 50 }), sloPriorities: { gold: 9, critical: -9 } });
    configure({ ...queue(), sloPriorities: { gold: 9, critical: -9 } });
    expect(flow.waiting).toBe(4);
    for (let i = 0; i < 4; i++) end();
    const order = waiting.map(({ facts, heard }) => [facts.sloClass, heard]);
    expect(order).toEqual(['batch', 'critical', 'standard', 'gold'].map((name) => [name, ['went after 10']]));
  });

  it('queues all requests again where classes have changed', () => {
    const { configure, end, enter } = flowOf(queue());
    enter();
    const [a, b, c] = [enter({ sloClass: 'x' }), enter(), enter({ sloClass: 'y' })];
    configure({ ...queue(), sloPriorities: { y: 50, x: -50 } });
    end();
    expect([a.heard.length, b.heard.length, c.heard.length]).toEqual([0, 0, 1]);
    end();
    expect([a.heard.length, b.heard.length]).toEqual([0, 1]);
  });

  it('refuses no waiting request when the limit is lowered, and admits no new one', () => {
    const { configure, enter, flow } = flowOf(queue());
    for (let i = 0; i < 5; i++) enter();
    configure(queue({ maxQueueDepth: 2 }));
    expect([flow.waiting, enter().heard]).toEqual([4, ['the gateway queue is full']]);
  });

  it('dispatches all requests, in order of arrival, when the queue is removed', () => {
    const { configure, enter, flow, time } = flowOf(queue({ dispatchTickUs: 100 }));
    const order: string[] = [];
    enter();
    for (const sloClass of ['batch', 'critical', 'standard']) {
      // It fails at once.
      enter({ sloClass }).go = () => {
        order.push(sloClass);
        flow.departed();
      };
    }
    time.us = 30;
    configure({});
    expect(order).toEqual(['batch', 'critical', 'standard']);
    expect([flow.waiting, flow.counts.queuedUs, enter().heard]).toEqual([0, 90, ['went after 0']]);
    configure(queue());
    expect(enter().heard).toEqual([]);
  });

  it('applies a longer or shorter time to live to waiting requests', () => {
    const { configure, enter, runTo } = flowOf(queue({ requestTtlUs: 1000 }));
    enter();
    const waiting = enter();
    configure(queue({ requestTtlUs: 5000 }));
    runTo(4999);
    expect(waiting.heard).toEqual([]);
    configure(queue({ requestTtlUs: 100 }));
    runTo(5000);
    expect(waiting.heard).toEqual(['waited too long in the gateway queue']);
  });

  it('leaves a bucket as full as it is while only other parts change', () => {
    const { configure, enter } = flowOf(bucket(10, 1));
    enter({ body: { prompt: '0123456789' } });
    configure({ ...bucket(10, 1), ...queue() });
    expect(enter().heard).toEqual(['insufficient tokens']);
    configure(bucket(11, 1));
    expect(enter().heard).toEqual(['went after 0']);
  });
});

describe('the end', () => {
  it('refuses requests that wait and requests that arrive', () => {
    const { configure, enter, flow } = flowOf(queue({ requestTtlUs: 1000 }));
    enter();
    const waiting = [enter(), enter()];
    flow.close(new ApiError('unavailable', 'gone'), 'draining');
    waiting.push(enter());
    configure({});
    waiting.push(enter());
    expect(waiting.map(({ error, heard }) => [error!.status, heard])).toEqual(
      Array.from({ length: 4 }, () => [503, ['draining']]),
    );
    expect([flow.waiting, flow.counts.turnedOut]).toEqual([0, 4]);
  });
});
