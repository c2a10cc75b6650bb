import { expect } from 'vitest';
import { type DesiredEndpoint, isRouted, type ObservedReplica } from './endpoint-state.js';
import { planEndpoint } from './plan-endpoint.js';

export type FakeEvent =
  | { readonly type: 'want'; readonly change: DesiredEndpoint }
  /** The desired hash is not known. */
  | { readonly type: 'unknown' }
  | { readonly type: 'ready' | 'reached' | 'unreached' | 'unready' | 'crash' | 'drained'; readonly pick: number }
  /** An operator drains one. */
  | { readonly type: 'leave'; readonly pick: number }
  | { readonly type: 'time'; readonly ms: number }
  /** The next start fails. */
  | { readonly type: 'no-room' }
  /** The control plane was killed: draining replicas and failed starts are forgotten. */
  | { readonly type: 'restart' };

const NO_ROOM_MS = 5000;
/** More steps than any run needs. */
const MOST_STEPS = 400;

/** Replicas and events for the planner; checks its promises at every step. */
export class FakeWorld {
  replicas: ObservedReplica[] = [];
  now = 1_000_000;
  #startsFrom = 0;
  #ids = 0;
  #isFull = false;

  constructor(public desired: DesiredEndpoint) {}

  apply(event: FakeEvent): void {
    switch (event.type) {
      case 'want':
        this.desired = event.change;
        return;
      case 'unknown':
        this.desired = { ...this.desired, specHash: null };
        return;
      case 'ready':
        this.#change(event.pick, isUnready, () => ({
          ...{ phase: 'ready', readyAt: this.now, unreadySince: null, serving: null },
        }));
        return;
      case 'reached':
        this.#change(
          event.pick,
          (one) => isRouted(one) && one.serving !== 'ready',
          () => ({ serving: 'ready' }),
        );
        return;
      case 'unreached':
        this.#change(
          event.pick,
          ({ serving }) => serving === 'ready',
          () => ({ serving: 'unhealthy' }),
        );
        return;
      case 'unready': {
        // Its routes are removed at once, but for the last.
        const isLast = this.replicas.filter(isRouted).length === 1;
        this.#change(event.pick, isRouted, () => ({
          ...{ phase: 'unready', unreadySince: this.now },
          ...(isLast ? {} : { serving: null }),
        }));
        return;
      }
      case 'crash': {
        const exit = { reason: 'ended', code: 1, signal: null, detail: null, at: this.now, lastLines: [] } as const;
        this.#change(
          event.pick,
          ({ phase }) => phase !== 'exited',
          () => ({ phase: 'exited', exit }),
        );
        return;
      }
      case 'leave':
        this.#change(
          event.pick,
          ({ isDraining }) => !isDraining,
          () => ({ isLeaving: true }),
        );
        return;
      case 'drained':
        this.#remove(event.pick);
        return;
      case 'time':
        this.now += event.ms;
        return;
      case 'no-room':
        this.#isFull = true;
        return;
      case 'restart':
        this.replicas = this.replicas.map((one) => ({ ...one, isDraining: false }));
        this.#startsFrom = 0;
    }
  }

  /** Plans, checks the plan, and applies it; returns whether there was anything to do. */
  step(): boolean {
    const { desired, now, replicas } = this;
    const plan = planEndpoint({ desired, replicas, now, startsFrom: this.#startsFrom });
    const { replicas: wanted, maxSurge, maxUnavailable } = desired;
    const before = replicas.filter(isRouted).length;
    const isServed = replicas.some((one) => isRouted(one) && one.serving === 'ready');
    for (const one of plan.routed) {
      expect(one).toMatchObject({
        isDraining: false,
        ...(isRouted(one) ? {} : { phase: 'unready', serving: 'ready' }),
      });
      if (isServed) expect(one.phase).toBe('ready');
    }
    // While none that is ready is reached, what the gateway still reaches is neither unrouted nor ended.
    const reached = replicas.filter((one) => isUnready(one) && one.serving === 'ready').length;
    const stillRouted = plan.routed.filter(({ phase }) => phase === 'unready').length;
    if (!isServed && before === 0) expect(stillRouted).toBeGreaterThanOrEqual(Math.min(reached, wanted));
    expect(plan.routed.length).toBeGreaterThanOrEqual(Math.min(before, wanted - maxUnavailable));
    const running = replicas.filter(({ phase }) => phase !== 'exited').length;
    expect(running + plan.start.length).toBeLessThanOrEqual(Math.max(running, wanted + maxSurge));
    const gone = new Set([...plan.remove, ...plan.start.map(({ replaces }) => replaces)]);
    this.replicas = replicas
      .filter((one) => !gone.has(one))
      .map((one) => (plan.drain.includes(one) ? { ...one, isDraining: true } : one))
      .map((one) => (plan.routed.some(({ id }) => id === one.id) ? one : { ...one, serving: null }));
    for (const { restarts } of plan.start) this.#start(restarts);
    return plan.drain.length + plan.remove.length + plan.start.length > 0;
  }

  /** Nothing fails any more: replicas become ready, draining ones end, time passes. */
  settle(): void {
    this.#isFull = false;
    for (let i = 0; i < MOST_STEPS; i++) {
      if (this.step()) continue;
      if (this.replicas.some(({ isDraining }) => isDraining)) this.#remove(0);
      else if (this.replicas.some(isUnready)) this.apply({ type: 'ready', pick: 0 });
      else if (this.replicas.some((one) => isRouted(one) && one.serving !== 'ready'))
        this.apply({ type: 'reached', pick: 0 });
      else {
        const { wakeAt } = planEndpoint({ ...this, replicas: this.replicas, startsFrom: this.#startsFrom });
        if (wakeAt === null) return;
        this.now = wakeAt;
      }
    }
    expect.fail(`does not settle: ${JSON.stringify(this.replicas)}`);
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
      cluster: 'local',
      problem: null,
      startedAt: this.now,
      readyAt: null,
      exit: null,
      isDraining: false,
      isLeaving: false,
      unreadySince: null,
      restarts,
      inFlight: 0,
      serving: null,
    });
  }

  #remove(pick: number): void {
    const draining = this.replicas.filter(({ isDraining }) => isDraining);
    const gone = draining[pick % draining.length];
    this.replicas = this.replicas.filter((one) => one !== gone);
  }

  #change(pick: number, fits: (replica: ObservedReplica) => boolean, change: () => Partial<ObservedReplica>): void {
    const fitting = this.replicas.filter(fits);
    const picked = fitting[pick % fitting.length];
    this.replicas = this.replicas.map((one) => (one === picked ? { ...one, ...change() } : one));
  }
}

const isUnready = ({ isDraining, phase }: ObservedReplica) =>
  !isDraining && (phase === 'starting' || phase === 'unready');
