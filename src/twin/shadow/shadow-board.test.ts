import { describe, expect, it, vi } from 'vitest';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS, type PolicyConfig } from '../../gateway/config/gateway-config.js';
import { DecisionRing } from '../../gateway/decisions/decision-ring.js';
import { Endpoint } from '../../gateway/fleet/endpoint/endpoint.js';
import { LiveReplica } from '../../gateway/fleet/replica/live-replica.js';
import { fakeFacts } from '../../gateway/request/fake-facts.fixture.js';
import { GatewayMetrics } from '../../gateway/telemetry/gateway-metrics.js';
import { agreementOf, type ClassOutcomes, type ShadowFigures } from '../../gateway/telemetry/shadow-figures.js';
import { randomStream } from '../../kernel/random-stream.js';
import type { ShadowChoice } from '../../policy/bundle/shadow-choice.js';
import { leastLoaded } from '../../policy/routing/least-loaded.js';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';
import { ShadowBoard } from './shadow-board.js';
import { ManualClock } from './time/manual-clock.fixture.js';
import { BUSY_SHARE, MOST_SHARE } from './time/processor-share.js';

const choice = (policy: string, name = policy, options = {}): ShadowChoice => ({ name, policy, options });

const countOf = ({ onRealPlacements }: ShadowFigures) =>
  onRealPlacements.reduce((sum, one) => sum + one.same + one.tied + one.different + one.forced, 0);

/** An endpoint with three replicas whose shadows decide when the test says so; time is what the test sets. */
class Yard {
  nowUs = 0;
  readonly clock = new ManualClock();
  readonly faults: unknown[] = [];
  readonly events: string[] = [];
  readonly ring: DecisionRing;
  readonly board: ShadowBoard;
  readonly endpoint: Endpoint;
  readonly #parts: ConstructorParameters<typeof Endpoint>[2];
  #sent = 0;

  constructor(change: Partial<PolicyConfig> = {}, replicas = 3, ring = new DecisionRing(1000)) {
    this.ring = ring;
    const fault = (error: unknown) => void this.faults.push(error);
    const event = (...words: string[]) => void this.events.push(words.join(' '));
    this.board = new ShadowBoard({ seed: 42, nowUs: () => this.nowUs, fault, event, clock: this.clock });
    const { signals, timeouts } = GATEWAY_DEFAULTS;
    this.#parts = {
      config: { seed: 42, signals, slowStartMs: 0, timeouts, waitMs: 0 },
      metrics: new GatewayMetrics(),
      ring: this.ring,
      log: null,
      shadows: this.board,
      warn: () => {},
      nowUs: () => this.nowUs,
    };
    this.endpoint = new Endpoint('chat', { ...DEFAULT_POLICY, name: 'round-robin', ...change }, this.#parts);
    this.grow(replicas);
  }

  grow(replicas: number): void {
    const all = Array.from(
      { length: replicas },
      (_, i) =>
        new LiveReplica({ id: `r${i}`, url: 'http://127.0.0.1:1', engine: 'vllm', models: ['m'] }, GATEWAY_DEFAULTS),
    );
    for (const replica of all) replica.healthy(0);
    this.endpoint.setReplicas(all);
  }

  /** Another endpoint of the gateway, declared in a workspace. */
  other(name: string, managed: { workspace: string; name: string }, shadows: readonly ShadowChoice[]): Endpoint {
    const endpoint = new Endpoint(name, { ...DEFAULT_POLICY, name: 'round-robin' }, this.#parts);
    endpoint.managed = managed;
    endpoint.setPolicy({ ...DEFAULT_POLICY, name: 'round-robin', shadows });
    return endpoint;
  }

  /** Places a request; the result ends it. */
  send(prompt = 'hello', sloClass = 'standard', session = ''): () => void {
    const facts = fakeFacts({ id: `q${this.#sent++}`, sloClass, session, body: { prompt } });
    const placed = this.endpoint.placer.place(facts, 0, [])!;
    return () => this.endpoint.placer.finish(placed);
  }

  /** Serves a request whose first token comes after this time, and which then ends. */
  serve(prompt: string, ttftUs: number): void {
    const facts = fakeFacts({ id: `q${this.#sent++}`, streams: true, body: { prompt } });
    const placed = this.endpoint.placer.place(facts, 0, [])!;
    this.nowUs += ttftUs;
    this.endpoint.placer.firstToken(placed, true);
    this.endpoint.placer.finish(placed);
    this.settle();
  }

  /** The shadows decide about all that was sent. */
  settle(): void {
    this.clock.settle();
  }

  get figures() {
    return this.board.of(this.endpoint);
  }

  /** Decisions of all shadows. */
  get made(): number {
    return this.figures.reduce((sum, one) => sum + countOf(one), 0);
  }
}

describe('shadows of an endpoint', () => {
  it('are observed only while there are any', () => {
    const yard = new Yard();
    expect(yard.endpoint.watch.observer).toBeNull();
    yard.board.add(yard.endpoint, choice('lmetric'));
    expect(yard.endpoint.watch.observer).not.toBeNull();
    yard.board.remove(yard.endpoint, 'lmetric');
    expect(yard.endpoint.watch.observer).toBeNull();
  });

  it('are limited for a workspace and for the gateway: one that is configured beyond reports it, and begins once there is room', () => {
    const yard = new Yard();
    const inWorkspace = (workspace: string, i: number, shadows: readonly ShadowChoice[]) =>
      yard.other(`${workspace}/e${i}`, { workspace, name: `e${i}` }, shadows);
    const eight = Array.from({ length: 8 }, (_, i) => choice('least-loaded', `s${i}`));
    const [first] = Array.from({ length: 4 }, (_, i) => inWorkspace('one', i, eight));
    const fifth = inWorkspace('one', 4, [choice('lmetric')]);
    const [{ stopped }] = yard.board.of(fifth) as [ShadowFigures];
    expect(stopped!.problem).toMatch(/^workspace one has 32 shadows already: remove one of these/);
    expect(() => yard.board.add(fifth, choice('unified'))).toThrow(/workspace one has 32 shadows already/);
    for (let i = 0; i < 4; i++) inWorkspace('two', i, eight);
    expect(() => yard.board.add(yard.endpoint, choice('lmetric'))).toThrow(/the gateway has 64 shadows already/);
    expect(yard.endpoint.watch.observer).toBeNull();
    yard.board.removed(first!);
    yard.board.changed(fifth);
    expect(yard.board.of(fifth)[0]!.stopped).toBeNull();
    yard.board.add(yard.endpoint, choice('lmetric'));
    expect(yard.figures).toHaveLength(1);
  });

  it('begin one after the other where that takes long, and each decides from then on', () => {
    const shadows = Array.from({ length: 4 }, (_, i) => choice('least-loaded', `s${i}`));
    const yard = new Yard({ shadows });
    // Each decision takes 4 ms of processor time.
    yard.clock.shadowUs = () => 4000 * yard.made;
    const begun = () => yard.figures.filter((one) => countOf(one) > 0).length;
    const seen: number[] = [];
    for (let i = 0; i < 4; i++) {
      for (let n = 0; n < 2; n++) yard.send();
      yard.clock.gatewayUs += 1e9;
      yard.settle();
      seen.push(begun());
    }
    expect(seen).toEqual([1, 2, 3, 4]);
    for (const one of yard.figures) expect(countOf(one) + one.dropped).toBe(8);
  });

  it('have room for a fleet that grows', () => {
    const yard = new Yard({ shadows: [choice('round-robin', 'again')] }, 3);
    for (const replicas of [3, 64, 65, 300]) {
      yard.grow(replicas);
      for (let i = 0; i < 5; i++) yard.send()();
      yard.settle();
    }
    const [{ stopped }] = yard.figures as [ShadowFigures];
    expect([stopped, yard.made, yard.faults]).toEqual([null, 20, []]);
  });

  it('decide after the request is placed, and their choices are part of its explanation', () => {
    const yard = new Yard({ shadows: [choice('least-loaded'), choice('round-robin', 'again')] });
    yard.send();
    expect(yard.ring.find('q0')!.shadows).toEqual([]);
    yard.settle();
    expect(yard.ring.find('q0')!.shadows).toEqual([
      expect.objectContaining({ shadow: 'least-loaded', policy: 'least-loaded', outcome: expect.any(String) }),
      {
        shadow: 'again',
        policy: 'round-robin',
        replica: 'r0',
        outcome: 'same',
        ownReplica: 'r0',
        ttftDifferenceMs: null,
      },
    ]);
  });

  it('count agreement by SLO class; draws among equals agree, and a single candidate does not count', () => {
    const yard = new Yard({ shadows: [choice('least-loaded')] });
    for (const sloClass of ['standard', 'batch', 'batch']) {
      yard.send('p', sloClass)();
      yard.settle();
    }
    const [{ onRealPlacements }] = yard.figures as [(typeof yard.figures)[number]];
    expect(onRealPlacements.map(({ sloClass, same, tied }) => [sloClass, same + tied])).toEqual([
      ['batch', 2],
      ['standard', 1],
    ]);
    expect(agreementOf(onRealPlacements)).toBe(1);
    const lone = new Yard({ shadows: [choice('least-loaded')] }, 1);
    lone.send();
    lone.settle();
    expect(lone.figures[0]!.onRealPlacements).toEqual([
      { sloClass: 'standard', same: 0, tied: 0, different: 0, forced: 1, compared: 0, agreed: 0 },
    ]);
    expect(agreementOf(lone.figures[0]!.onRealPlacements)).toBeNull();
  });

  it('read the real placements and their own apart', () => {
    const yard = new Yard({ shadows: [choice('always-busiest')] });
    // Round-robin spreads what the shadow would pile up on one replica, whose caches would then have seen the prompt.
    const prompt = 'the same long prompt again and again '.repeat(20);
    for (let i = 0; i < 9; i++) {
      yard.send(prompt);
      yard.settle();
    }
    const own = yard.ring.latest(8).map(({ shadows }) => shadows[0]!.ownReplica);
    expect(new Set(own).size).toBe(1);
    const { knownPrefix } = yard.figures[0]!;
    expect(knownPrefix!.real).toBeCloseTo(6 / 9, 1);
    expect(knownPrefix!.own).toBeCloseTo(8 / 9, 1);
  });

  it('forget in their own fleet what has ended', () => {
    const yard = new Yard({ shadows: [choice('least-loaded', 'least', { tie_break: 'first' })] });
    const first = yard.send();
    yard.settle();
    first();
    yard.send();
    yard.settle();
    expect(yard.ring.find('q1')!.shadows[0]!.ownReplica).toBe('r0');
    yard.send();
    yard.settle();
    expect(yard.ring.find('q2')!.shadows[0]!.ownReplica).toBe('r1');
  });

  it('drop decisions when too many wait, and count them', () => {
    const yard = new Yard({ shadows: [choice('lmetric'), choice('unified')] });
    for (let i = 0; i < 200; i++) yard.send();
    yard.settle();
    for (const { dropped, onRealPlacements } of yard.figures) {
      expect(dropped).toBe(72);
      expect(onRealPlacements.reduce((sum, one) => sum + one.same + one.tied + one.different, 0)).toBe(128);
    }
  });

  it('know where requests are whose decisions they dropped, by both readings', () => {
    const yard = new Yard({ shadows: [choice('least-loaded', 'least', { tie_break: 'first' }), choice('sticky')] });
    const send = (session = '') => {
      const end = yard.send('p', 'standard', session);
      yard.settle();
      return end;
    };
    const found = (id: string) => yard.ring.find(id)!.shadows;
    for (let i = 0; i < 3; i++) send()();
    const begun = yard.made;
    // The first decision from now on uses up all the time there is.
    yard.clock.shadowUs = () => 1e6 * (yard.made - begun);
    send()();
    const dropped = [send('b'), send('c')];
    expect([found('q3').length, found('q4').length, found('q5').length]).toEqual([2, 0, 0]);
    expect(yard.figures.map((one) => one.dropped)).toEqual([2, 2]);
    // There is time again, from the next decision on. Round-robin serves: it has sent q4 to r1 and q5 to r2.
    yard.clock.shadowUs = () => 1e6;
    yard.clock.gatewayUs = 1e9;
    send()();
    send('b');
    expect(found('q7')[1]).toMatchObject({ shadow: 'sticky', replica: 'r1', outcome: 'same' });
    expect(found('q7')[0]).toMatchObject({ shadow: 'least', ownReplica: 'r0' });
    send();
    expect(found('q8')[0]!.ownReplica).toBe('r0');
    for (const end of dropped) end();
    const own = ['q9', 'q10', 'q11', 'q12'].map((id) => {
      send();
      return found(id)[0]!.ownReplica;
    });
    expect(own).toEqual(['r1', 'r2', 'r1', 'r2']);
  });

  it('use a tenth of what the gateway uses, and less while it is busy', () => {
    for (const [busy, share] of [
      [false, MOST_SHARE],
      [true, BUSY_SHARE],
    ] as const) {
      const yard = new Yard({ shadows: [choice('lmetric')] });
      const rounds = 600;
      const decisionUs = 200;
      yard.clock.busy = busy;
      yard.clock.shadowUs = () => decisionUs * yard.made;
      for (let i = 0; i < rounds; i++) {
        yard.clock.gatewayUs += 1000;
        yard.send()();
        yard.settle();
      }
      const usedUs = decisionUs * yard.made;
      const { dropped, droppedBusy } = yard.figures[0]!;
      expect(yard.made + dropped).toBe(rounds);
      expect(droppedBusy).toBe(busy ? dropped : 0);
      // 20 ms may be used at once at first.
      expect(usedUs).toBeGreaterThan(rounds * 1000 * share * 0.5);
      expect(usedUs).toBeLessThan(rounds * 1000 * share + 20_000 + decisionUs);
    }
  });

  it('earn from the requests of their endpoint, not from those of others', () => {
    const yard = new Yard({ shadows: [choice('lmetric')] });
    // The ring has the decisions of all endpoints of a gateway.
    const other = new Yard({}, 3, yard.ring);
    const [decisionUs, rounds] = [200, 300];
    yard.clock.shadowUs = () => decisionUs * yard.made;
    for (let i = 0; i < rounds; i++) {
      for (let j = 0; j < 9; j++) other.send()();
      yard.clock.gatewayUs += 10_000;
      yard.send()();
      yard.settle();
    }
    expect(decisionUs * yard.made).toBeLessThan(rounds * 1000 * MOST_SHARE + 20_000 + decisionUs);
  });

  it('decide about requests drawn at random where there is no time for all; shares stay those of all requests', () => {
    const yard = new Yard({ shadows: [choice('least-loaded')] });
    yard.clock.shadowUs = () => 50 * yard.made;
    const rounds = 400;
    for (let i = 0; i < rounds; i++) {
      yard.clock.gatewayUs += 2000;
      yard.clock.busy = i % 100 < 50;
      // Busy: r0 and r1 have a request for long, so that round-robin agrees in the first two decisions and in every third.
      // Otherwise all replicas are idle, and it always agrees.
      const held = yard.clock.busy ? [yard.send(), yard.send()] : [];
      for (let j = 0; j < (yard.clock.busy ? 10 : 3); j++) yard.send()();
      for (const end of held) end();
      yard.settle();
    }
    const all = (rounds / 2) * (12 + 3);
    const agreed = (rounds / 2) * (6 + 3);
    const { dropped, onRealPlacements } = yard.figures[0]!;
    const [{ compared, different, same, tied }] = onRealPlacements as [ClassOutcomes];
    expect(dropped).toBeGreaterThan(all / 2);
    expect(compared).toBeCloseTo(all, -2);
    expect(agreementOf(onRealPlacements)).toBeCloseTo(agreed / all, 1);
    // There was less time in busy moments: the decisions alone would tell something else.
    expect((same + tied) / (same + tied + different)).toBeGreaterThan(agreed / all + 0.1);
  });

  it('have nothing left of requests that have ended, whatever was dropped while replicas came and went', () => {
    const yard = new Yard({ shadows: [choice('least-loaded', 'least', { tie_break: 'first' })] }, 4);
    const all = yard.endpoint.replicas;
    const random = randomStream(3, 'replicas come and go');
    yard.clock.shadowUs = () => 30 * yard.made;
    const open: (() => void)[] = [];
    for (let i = 0; i < 400; i++) {
      yard.nowUs += 1000;
      yard.clock.gatewayUs += 150;
      open.push(yard.send(`${random.below(9)} `.repeat(40)));
      if (random.below(3) > 0) open.splice(random.below(open.length), 1)[0]!();
      if (random.below(20) === 0) yard.endpoint.setReplicas(all.filter((one) => one === all[0] || random.below(4) > 0));
      if (random.below(4) === 0) yard.settle();
    }
    const { dropped } = yard.figures[0]!;
    expect([dropped > 50, dropped < 350]).toEqual([true, true]);
    for (const end of open) end();
    yard.endpoint.setReplicas(all);
    yard.clock.gatewayUs += 1e9;
    yard.send()();
    yard.settle();
    const own = Array.from({ length: 8 }, () => {
      yard.clock.gatewayUs += 1e6;
      yard.send();
      yard.settle();
      return yard.ring.latest(1)[0]!.shadows[0]!.ownReplica;
    });
    expect(own).toEqual(['r0', 'r1', 'r2', 'r3', 'r0', 'r1', 'r2', 'r3']);
    expect(yard.faults).toEqual([]);
  });

  it('cost dropped requests nothing: neither tokens nor ends of them are kept', () => {
    const yard = new Yard({ shadows: [choice('least-loaded')] });
    yard.clock.shadowUs = () => 1e6 * yard.made;
    yard.send()();
    yard.settle();
    const scheduled = yard.clock.scheduled;
    const end = yard.send();
    expect(yard.clock.scheduled).toBe(scheduled + 1);
    end();
    yard.settle();
    expect(yard.clock.scheduled).toBe(scheduled + 1);
    expect(yard.figures[0]!.dropped).toBe(1);
  });

  it('stop alone when their policy fails, with the reason; the others and the requests go on', () => {
    const yard = new Yard({ shadows: [choice('lmetric')] });
    yard.board.add(yard.endpoint, choice('least-loaded'));
    const broken = new Error('a bug');
    const fail = vi.spyOn(leastLoaded, 'create').mockReturnValueOnce({
      pick: () => {
        throw broken;
      },
    });
    yard.send();
    yard.settle();
    fail.mockRestore();
    yard.nowUs = 5e6;
    yard.send();
    yard.settle();
    expect(yard.faults).toEqual([broken]);
    expect(yard.events).toEqual(['chat warning ShadowStopped shadow least-loaded (least-loaded) has stopped: a bug']);
    const [stopped, running] = yard.figures as [ShadowFigures, ShadowFigures];
    expect([stopped.name, stopped.stopped]).toEqual(['least-loaded', { atUs: 0, problem: 'a bug' }]);
    expect([running.name, running.stopped, countOf(running), countOf(stopped)]).toEqual(['lmetric', null, 2, 0]);
    expect(yard.ring.find('q1')!.shadows.map(({ shadow }) => shadow)).toEqual(['lmetric']);
    expect(yard.endpoint.inFlight).toBe(2);
    // Added again, it begins again.
    yard.board.add(yard.endpoint, choice('least-loaded'));
    yard.send();
    yard.settle();
    expect(yard.figures.map((one) => [one.name, one.stopped, countOf(one)])).toEqual([
      ['least-loaded', null, 1],
      ['lmetric', null, 3],
    ]);
  });

  it('stop all when their choices cannot be written, and requests go on', () => {
    const yard = new Yard({ shadows: [choice('lmetric')] });
    const broken = new Error('a bug');
    yard.endpoint.watch.note = () => {
      throw broken;
    };
    yard.send();
    yard.settle();
    expect(yard.faults).toEqual([broken]);
    expect(yard.figures[0]!.stopped).toMatchObject({ problem: 'a bug' });
    expect(yard.endpoint.watch.observer).toBeNull();
    yard.send();
    expect(yard.endpoint.inFlight).toBe(2);
  });
});

describe('the predicted difference of TTFT', () => {
  /** Steps with a prompt take 1 ms and 10 us for each token, others 1 ms; requests wait 100 us before the queue. */
  const PROFILE: LatencyProfile = {
    ...fakeProfile({
      decodeOnly: [{ tokens: 1, us: 1000 }],
      withPrefill: [
        { tokens: 1, us: 1010 },
        { tokens: 1001, us: 11_010 },
      ],
      ...{ decodeContextUs: 0, mixedContextUs: 0, unevenContextUs: 0, mixedUnevenContextUs: 0, mixedDecodeUs: 0 },
      ...{ prefillPairUs: 0, prefillLongestUs: 0, prefillRequestUs: 0, requestUs: 0 },
    }),
  };

  /** Round-robin over two replicas of known speed, and a shadow that avoids the busy one. */
  function profiledYard(): Yard {
    const shadows = [choice('least-loaded', 'least', { tie_break: 'first' })];
    const yard = new Yard({ shadows }, 2);
    for (const id of ['r0', 'r1']) yard.endpoint.profiles.set(id, PROFILE);
    return yard;
  }

  it('is that of the profile, of decisions that differ', () => {
    const yard = profiledYard();
    const [, endSecond] = [yard.send('p'.repeat(400)), yard.send('p'.repeat(400))];
    yard.settle();
    endSecond!();
    // r0 has a request that decodes, r1 none: round-robin takes r0.
    yard.send('q'.repeat(400));
    yard.settle();
    const [inputTokens] = yard.ring.latest(1).map((one) => one.inputTokens);
    expect(inputTokens).toBe(100);
    // r1: 100 us, and a step of 100 tokens. r0: 100 us, half a step of the other request, and a step of 101 tokens.
    const [r0, r1] = [0.1 + 0.5 + 2.01, 0.1 + 2];
    expect(yard.ring.find('q2')!.shadows[0]).toMatchObject({ replica: 'r1', outcome: 'different' });
    expect(yard.ring.find('q2')!.shadows[0]!.ttftDifferenceMs).toBeCloseTo(r1 - r0, 6);
    const { predicted, ttft } = yard.figures[0]!;
    expect(ttft).toEqual({ count: 1, gainedUs: expect.closeTo(510, 3), lostUs: 0, meanUs: expect.closeTo(-510, 3) });
    // In its own fleet the shadow has placed the same requests on r0, r1 and r1.
    expect(predicted.count).toBe(3);
    expect(predicted.realUs).toBeCloseTo(1000 * (r1 + r1 + r0), 3);
    expect(predicted.ownUs).toBeCloseTo(1000 * (r1 + r1 + r1), 3);
  });

  it('is that of the moment of the decision, however late the shadow decides', () => {
    const found = (isLate: boolean) => {
      const yard = profiledYard();
      const ends: (() => void)[] = [];
      for (const [i, letter] of [...'pqprsptqqprs'].entries()) {
        yard.nowUs += 500;
        ends.push(yard.send(letter.repeat(400 + 40 * i)));
        if (i % 3 === 2) ends.splice(i % 2, 1)[0]!();
        if (!isLate) yard.settle();
      }
      yard.settle();
      return yard.ring.latest(12).map(({ shadows }) => shadows);
    };
    const late = found(true);
    expect(late).toEqual(found(false));
    expect(late.flat().filter(({ ttftDifferenceMs }) => ttftDifferenceMs !== 0).length).toBeGreaterThan(1);
  });

  it('is corrected alike by both readings where replicas differ from their profile', () => {
    const yard = new Yard({ shadows: [choice('round-robin')] }, 2);
    for (const id of ['r0', 'r1']) yard.endpoint.profiles.set(id, PROFILE);
    // Predicted are 2.1 ms.
    for (let i = 0; i < 100; i++) yard.serve(`${i} `.repeat(400).slice(0, 400), 4200);
    const { count, ownUs, realUs } = yard.figures[0]!.predicted;
    expect(count).toBe(100);
    expect(realUs / count).toBeGreaterThan(3500);
    expect(ownUs / realUs).toBeCloseTo(1, 2);
  });

  it('is not known without a profile', () => {
    const yard = new Yard({ shadows: [choice('least-loaded')] });
    for (let i = 0; i < 5; i++) yard.send();
    yard.settle();
    expect(yard.figures[0]).toMatchObject({ ttft: { count: 0 }, predicted: { count: 0 } });
  });
});

describe('changes of shadows', () => {
  it('keep what the others have found, and begin at 0 when the policy that serves changes', () => {
    const yard = new Yard({ shadows: [choice('lmetric')] });
    yard.send();
    yard.settle();
    yard.board.add(yard.endpoint, choice('unified'));
    yard.send();
    yard.settle();
    const counts = () =>
      yard.figures.map(({ name, onRealPlacements, source }) => [
        name,
        source,
        onRealPlacements.reduce((sum, one) => sum + one.same + one.tied + one.different, 0),
      ]);
    expect(counts()).toEqual([
      ['lmetric', 'configuration', 2],
      ['unified', 'added', 1],
    ]);
    yard.endpoint.setPolicy({ ...yard.endpoint.policy, name: 'least-loaded' });
    expect(counts()).toEqual([
      ['lmetric', 'configuration', 0],
      ['unified', 'added', 0],
    ]);
  });

  it('of the configuration alone make no new version of the policy, and a rollback keeps them', () => {
    const yard = new Yard();
    const { endpoint } = yard;
    endpoint.setPolicy({ ...endpoint.policy, name: 'least-loaded' });
    endpoint.setPolicy({ ...endpoint.policy, shadows: [choice('lmetric')] });
    expect(endpoint.history()).toHaveLength(2);
    expect(endpoint.rollback()!.policy).toMatchObject({ name: 'round-robin', shadows: [choice('lmetric')] });
    expect(yard.figures.map(({ name, servingPolicy }) => [name, servingPolicy])).toEqual([['lmetric', 'round-robin']]);
  });

  it('are refused beyond eight, for names of the configuration, and for unknown ones', () => {
    const { board, endpoint } = new Yard({ shadows: [choice('lmetric')] });
    expect(() => board.add(endpoint, choice('unified', 'lmetric'))).toThrow("is in the endpoint's configuration");
    expect(() => board.remove(endpoint, 'lmetric')).toThrow("is in the endpoint's configuration");
    for (let i = 1; i < 8; i++) board.add(endpoint, choice('unified', `u${i}`));
    board.add(endpoint, choice('lmetric', 'u1'));
    expect(() => board.add(endpoint, choice('unified', 'u8'))).toThrow('the endpoint has 8 shadows already');
    expect(() => board.remove(endpoint, 'u9')).toThrow("did you mean 'u1'");
  });

  it('end with their endpoint', () => {
    const { board, endpoint } = new Yard({ shadows: [choice('lmetric')] });
    endpoint.retire();
    expect(board.of(endpoint)).toEqual([]);
    expect(endpoint.watch.observer).toBeNull();
  });
});
