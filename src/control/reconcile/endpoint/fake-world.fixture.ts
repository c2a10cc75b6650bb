import { expect } from 'vitest';
import { type DesiredEndpoint, isRouted, type ObservedReplica } from './endpoint-state.js';
import { planEndpoint } from './plan-endpoint.js';

export type FakeEvent =
  | { readonly type: 'want'; readonly change: DesiredEndpoint }
  /** What the replicas should be cannot be said. */
  | { readonly type: 'unknown' }
  | { readonly type: 'ready' | 'unready' | 'crash' | 'left'; readonly pick: number }
  | { readonly type: 'time'; readonly ms: number }
  /** The next start fails. */
  | { readonly type: 'no-room' }
  /** The control plane was killed: whoever was leaving is not known to be, and failed starts are forgotten. */
  | { readonly type: 'reborn' };

const NO_ROOM_MS = 5000;
/** More looks than any of these worlds needs. */
const MOST_LOOKS = 400;

/** Replicas that do what they are told and what happens to them, and one who plans for them; checks its promises at every step. */
export class FakeWorld {
  replicas: ObservedReplica[] = [];
  now = 1_000_000;
  #startsFrom = 0;
  #ids = 0;
  #isFull = false;

  constructor(public desired: DesiredEndpoint) {}

  happen(event: FakeEvent): void {
    switch (event.type) {
      case 'want':
        this.desired = event.change;
        return;
      case 'unknown':
        this.desired = { ...this.desired, specHash: null };
        return;
      case 'ready':
        this.#change(event.pick, isUnready, () => ({ phase: 'ready', readyAt: this.now, unwellSince: null }));
        return;
      case 'unready':
        this.#change(event.pick, isRouted, () => ({ phase: 'unready', unwellSince: this.now }));
        return;
      case 'crash': {
        const exit = { reason: 'ended', code: 1, signal: null, at: this.now, lastLines: [] } as const;
        this.#change(
          event.pick,
          ({ phase }) => phase !== 'exited',
          () => ({ phase: 'exited', exit }),
        );
        return;
      }
      case 'left':
        this.#remove(event.pick);
        return;
      case 'time':
        this.now += event.ms;
        return;
      case 'no-room':
        this.#isFull = true;
        return;
      case 'reborn':
        this.replicas = this.replicas.map((one) => ({ ...one, isLeaving: false }));
        this.#startsFrom = 0;
    }
  }

  /** One look: plans, checks the plan, and does it. Says whether there was anything to do. */
  step(): boolean {
    const { desired, now, replicas } = this;
    const plan = planEndpoint({ desired, replicas, now, startsFrom: this.#startsFrom });
    const { replicas: wanted, maxSurge, maxUnavailable } = desired;
    for (const one of plan.routed) expect(one).toMatchObject({ phase: 'ready', isLeaving: false });
    const before = replicas.filter(isRouted).length;
    expect(plan.routed.length).toBeGreaterThanOrEqual(Math.min(before, wanted - maxUnavailable));
    const running = replicas.filter(({ phase }) => phase !== 'exited').length;
    expect(running + plan.start.length).toBeLessThanOrEqual(Math.max(running, wanted + maxSurge));
    const gone = new Set([...plan.forget, ...plan.start.map(({ instead }) => instead)]);
    this.replicas = replicas
      .filter((one) => !gone.has(one))
      .map((one) => (plan.leave.includes(one) ? { ...one, isLeaving: true } : one));
    for (const { restarts } of plan.start) this.#start(restarts);
    return plan.leave.length + plan.forget.length + plan.start.length > 0;
  }

  /** Nothing goes wrong any more: everybody becomes ready, who leaves is gone, time passes when it has to. */
  comeToRest(): void {
    this.#isFull = false;
    for (let i = 0; i < MOST_LOOKS; i++) {
      if (this.step()) continue;
      if (this.replicas.some(({ isLeaving }) => isLeaving)) this.#remove(0);
      else if (this.replicas.some(isUnready)) this.happen({ type: 'ready', pick: 0 });
      else {
        const { wakeAt } = planEndpoint({ ...this, replicas: this.replicas, startsFrom: this.#startsFrom });
        if (wakeAt === null) return;
        this.now = wakeAt;
      }
    }
    expect.fail(`does not come to rest: ${JSON.stringify(this.replicas)}`);
  }

  #start(restarts: number): void {
    if (this.#isFull) {
      this.#isFull = false;
      this.#startsFrom = this.now + NO_ROOM_MS;
      return;
    }
    this.replicas.push({
      id: `r${this.#ids++}`,
      specHash: this.desired.specHash!,
      generation: 1,
      phase: 'starting',
      url: '',
      startedAt: this.now,
      readyAt: null,
      exit: null,
      isLeaving: false,
      unwellSince: null,
      restarts,
      inFlight: 0,
    });
  }

  #remove(pick: number): void {
    const leaving = this.replicas.filter(({ isLeaving }) => isLeaving);
    const gone = leaving[pick % leaving.length];
    this.replicas = this.replicas.filter((one) => one !== gone);
  }

  #change(pick: number, fits: (replica: ObservedReplica) => boolean, change: () => Partial<ObservedReplica>): void {
    const fitting = this.replicas.filter(fits);
    const picked = fitting[pick % fitting.length];
    this.replicas = this.replicas.map((one) => (one === picked ? { ...one, ...change() } : one));
  }
}

const isUnready = ({ isLeaving, phase }: ObservedReplica) =>
  !isLeaving && (phase === 'starting' || phase === 'unready');
