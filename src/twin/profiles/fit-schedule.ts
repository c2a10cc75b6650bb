import type { EngineTraffic } from '../../gateway/prediction/engine-traffic.js';
import type { EngineProfile } from './engine-profile.js';
import { LEAST_FITTED, LEAST_SCORED } from './fit/engine-traces.js';

/** Between two fits of an engine: with a profile, and without one. */
const EVERY_US = 900e6;
const SOON_US = 120e6;
/** Requests that a fit waits for: of all replicas, and of the one that has most; a part of them is scored, or only replayed. */
const LEAST_REQUESTS = 2 * (LEAST_FITTED + LEAST_SCORED);
const LEAST_OF_ONE = LEAST_FITTED + 1.5 * LEAST_SCORED;
/** Requests that are new in each further fit. */
const LEAST_NEW = 60;

/** When one engine is fitted again, and from which requests on. */
export class FitSchedule {
  /** Requests before this are of another engine, or of one that has changed. */
  sinceUs = Number.NEGATIVE_INFINITY;
  #triedUs = Number.NEGATIVE_INFINITY;
  #triedTotal = 0;
  #isUrgent = false;

  /** The engine behaves like another one since this moment: it is fitted as soon as there is enough. */
  hurry(sinceUs: number): void {
    this.sinceUs = Math.max(this.sinceUs, sinceUs);
    this.#isUrgent = true;
  }

  tried({ samples }: EngineTraffic, nowUs: number): void {
    this.#triedUs = nowUs;
    this.#triedTotal = samples.total;
    this.#isUrgent = false;
  }

  isDue(traffic: EngineTraffic, { isPinned, profile }: EngineProfile, nowUs: number): boolean {
    if (isPinned || traffic.samples.total - this.#triedTotal < LEAST_NEW) return false;
    const waitUs = profile === null || this.#isUrgent ? SOON_US : EVERY_US;
    return nowUs - this.#triedUs >= waitUs && this.lacks(traffic) === null;
  }

  /** Why there is no profile before the first fit; null once it began: then its result says it. */
  whyNone(traffic: EngineTraffic): string | null {
    const lacks = this.lacks(traffic);
    if (lacks !== null) return `${lacks}: nothing is predicted yet`;
    if (this.#triedTotal > 0) return null;
    return 'enough requests are collected, and the first fit waits for its turn: nothing is predicted yet';
  }

  /** What is missing for a fit, in words; null when there is enough. */
  lacks({ samples }: EngineTraffic): string | null {
    if (samples.count < LEAST_REQUESTS) return `${samples.count} of ${LEAST_REQUESTS} requests collected`;
    const most = samples.mostOfOneReplica(this.sinceUs);
    return most < LEAST_OF_ONE ? `${most} of ${LEAST_OF_ONE} requests of one replica collected` : null;
  }

  /** When it was tried last. */
  get triedUs(): number {
    return this.#triedUs;
  }
}
