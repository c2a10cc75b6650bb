import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, type PolicyConfig } from '../../gateway/config/gateway-config.js';
import { policyHashOf } from '../../gateway/fleet/endpoint/deciding.js';
import type { Gateway } from '../../gateway/gateway.js';
import { RequestRing } from '../../gateway/history/request-ring.js';
import type { FinishedRequest } from '../../gateway/request/request-record.js';
import { FileSwitch } from './file-switch.js';
import { guardedSwitch, type SwitchGuard, type SwitchParts } from './guarded-switch.js';
import type { JobProgress } from './job-board.js';

const OLD: PolicyConfig = { ...DEFAULT_POLICY, name: 'round-robin' };
const NEW: PolicyConfig = { ...DEFAULT_POLICY, name: 'lmetric' };
const GUARD: SwitchGuard = { metric: 'ttft_p90', most: 0.1, watchMs: 10_000 };

/** An endpoint whose requests take `ttftMs` with the policy in force; each look at them is a second later. */
class FakeWorld {
  nowMs = 100_000;
  policies: PolicyConfig[] = [OLD];
  audits: [string, string][] = [];
  readonly requests: RequestRing;
  readonly abort = new AbortController();
  stages: number[] = [];
  details: string[] = [];
  /** What the configuration file says. */
  file: PolicyConfig = OLD;

  constructor(
    readonly ttftMs: (policy: string, nowMs: number) => number,
    public perSecond = 20,
    readonly outcome: (policy: string, i: number) => string = () => 'ok',
    room = 10_000,
  ) {
    this.requests = new RequestRing(room);
    for (let i = 0; i < 10; i++) this.#second(this.nowMs - 10_000 + i * 1000);
  }

  #second(atMs: number): void {
    const policy = this.policies.at(-1)!.name;
    for (let i = 0; i < this.perSecond; i++) {
      const arrivedUs = (atMs + i) * 1000;
      const firstTokenUs = arrivedUs + this.ttftMs(policy, atMs) * 1000;
      this.requests.ended({
        ...{
          endpoint: { name: 'chat' },
          arrivedUs,
          firstTokenUs,
          endedUs: firstTokenUs + 1000,
          outcome: this.outcome(policy, i),
        },
      } as FinishedRequest);
    }
  }

  run(guard: Partial<SwitchGuard> = {}, looked: (world: FakeWorld) => void = () => {}, policy = NEW) {
    const world = this;
    const gateway = {
      nowMs: () => world.nowMs,
      get config() {
        return { endpoints: [{ name: 'chat', policy: world.file }] };
      },
      traffic: { requests: world.requests },
    } as unknown as SwitchParts['gateway'] & Pick<Gateway, 'config'>;
    const target = new FileSwitch({
      gateway,
      policy,
      endpoint: {
        name: 'chat',
        get policy() {
          return world.policies.at(-1)!;
        },
        get policyHash() {
          return policyHashOf(world.policies.at(-1)!);
        },
        history: () => world.policies.map((one, i) => ({ hash: '', policy: one, sinceUs: i })).reverse(),
        setPolicy: (next: PolicyConfig) => void world.policies.push(next),
        rollback: () => {
          world.policies.pop();
          return null;
        },
      },
      audit: async (before: object, after: object) => {
        world.audits.push([routingOf(before), routingOf(after)]);
      },
    });
    const pause = async () => {
      world.#second(world.nowMs);
      world.nowMs += 1000;
      looked(world);
    };
    const progress = ({ detail, done }: JobProgress) => {
      world.stages.push(done);
      world.details.push(detail!);
    };
    return guardedSwitch({ gateway, target, pause }, { ...GUARD, ...guard }, { signal: this.abort.signal, progress });
  }

  get inForce(): string {
    return this.policies.at(-1)!.name;
  }
}

const routingOf = (keys: object) => (keys as { routing: { policy: string } }).routing.policy;

describe('guardedSwitch', () => {
  it('keeps a policy that is not worse, and audits the change', async () => {
    const world = new FakeWorld((policy) => (policy === 'lmetric' ? 80 : 100));
    expect(await world.run()).toMatchObject({ outcome: 'kept', before: 100, after: 80, bound: expect.closeTo(110) });
    expect([world.inForce, world.audits]).toEqual(['lmetric', [['round-robin', 'lmetric']]]);
    expect(world.stages).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(world.details[0]).toBe('0 of 50 requests ended');
    expect(world.details.at(-1)).toBe('ttft_p90 80.0 ms, 110.0 ms allowed');
  });

  it('goes back as soon as the metric is above the bound, and audits that too', async () => {
    const world = new FakeWorld((policy) => (policy === 'lmetric' ? 120 : 100));
    const result = await world.run();
    expect(result).toMatchObject({
      outcome: 'returned',
      after: 120,
      reason: 'ttft_p90 became 120.0 ms, above 110.0 ms',
    });
    expect([world.inForce, world.nowMs]).toEqual(['round-robin', 103_000]);
    expect(world.audits).toEqual([
      ['round-robin', 'lmetric'],
      ['lmetric', 'round-robin'],
    ]);
  });

  it('goes back when requests fail more often', async () => {
    const outcome = (policy: string, i: number) => (policy === 'lmetric' && i % 4 === 0 ? 'upstream_error' : 'ok');
    const world = new FakeWorld(() => 100, 20, outcome);
    expect(await world.run({ metric: 'errors', most: 0.05 })).toMatchObject({
      outcome: 'returned',
      before: 0,
      after: 0.25,
    });
    expect(world.inForce).toBe('round-robin');
  });

  it('goes back when it is cancelled, or too few requests ended to tell', async () => {
    const cancelled = new FakeWorld(() => 100);
    await expect(cancelled.run({}, (world) => world.abort.abort())).rejects.toThrow();
    expect([cancelled.inForce, cancelled.audits.length]).toEqual(['round-robin', 2]);
    const idle = new FakeWorld(() => 100, 6);
    const stop = (world: FakeWorld) => {
      world.perSecond = 0;
    };
    expect(await idle.run({}, stop)).toMatchObject({ outcome: 'returned', after: null });
    expect(idle.inForce).toBe('round-robin');
  });

  it('leaves a policy alone that was changed meanwhile', async () => {
    const world = new FakeWorld(() => 100);
    const other = (one: FakeWorld) => void one.policies.push({ ...DEFAULT_POLICY, name: 'unified' });
    expect(await world.run({}, other)).toMatchObject({ outcome: 'superseded' });
    expect(world.inForce).toBe('unified');
  });

  it('leaves a policy alone that was changed back and forth, or that the configuration file has by now', async () => {
    const worse = (policy: string) => (policy === 'lmetric' ? 200 : 100);
    const twice = new FakeWorld(worse);
    const forth = (one: FakeWorld) => void one.policies.push({ ...DEFAULT_POLICY, name: 'unified' }, NEW);
    expect(await twice.run({}, forth)).toMatchObject({ outcome: 'superseded' });
    const reloaded = new FakeWorld(worse);
    const reload = (one: FakeWorld) => {
      one.file = NEW;
    };
    expect(await reloaded.run({}, reload)).toMatchObject({ outcome: 'superseded' });
    expect([twice.inForce, reloaded.inForce, reloaded.audits.length]).toEqual(['lmetric', 'lmetric', 1]);
  });

  it('measures the policy in force first where few requests have ended, and all of its watch where the ring is short', async () => {
    const quiet = new FakeWorld((policy) => (policy === 'lmetric' ? 90 : 100), 4);
    expect(await quiet.run({ watchMs: 20_000 })).toMatchObject({
      outcome: 'kept',
      before: 100,
      after: 90,
      requests: 80,
    });
    expect(quiet.details[0]).toBe('40 of 50 requests ended with the policy in force');
    const busy = new FakeWorld(
      () => 100,
      20,
      () => 'ok',
      60,
    );
    expect(await busy.run()).toMatchObject({ outcome: 'kept', requests: 200 });
  });

  it('leaves a policy alone that was changed while the one in force was measured', async () => {
    const quiet = new FakeWorld(() => 100, 4);
    const other = (one: FakeWorld) => void one.policies.push({ ...DEFAULT_POLICY, name: 'unified' });
    await expect(quiet.run({ watchMs: 20_000 }, other)).rejects.toMatchObject({ code: 'API_POLICY_CHANGED' });
    expect([quiet.inForce, quiet.audits]).toEqual(['unified', []]);
  });

  it('does not go back for a few slow requests that chance may bring, and does at the end if it is worse', async () => {
    const slow = new Set([3, 9]);
    let i = 0;
    const world = new FakeWorld((policy) => (policy === 'lmetric' && slow.has(i++ % 19) ? 150 : 100));
    expect(await world.run({ most: 0.05 })).toMatchObject({
      outcome: 'returned',
      reason: expect.stringContaining('150.0 ms'),
    });
    expect(world.nowMs).toBe(110_000);
  });

  it('refuses to start where nothing can be compared, and changes nothing', async () => {
    const quiet = new FakeWorld(() => 100, 2);
    await expect(quiet.run()).rejects.toMatchObject({ code: 'API_TOO_FEW_REQUESTS' });
    const same = new FakeWorld(() => 100);
    await expect(same.run({}, () => {}, OLD)).rejects.toMatchObject({ code: 'API_POLICY_IN_FORCE' });
    expect([quiet.inForce, same.inForce, quiet.audits, same.audits]).toEqual(['round-robin', 'round-robin', [], []]);
  });
});
