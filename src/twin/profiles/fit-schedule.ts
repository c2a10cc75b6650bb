import type { EngineTraffic } from '../../gateway/prediction/engine-traffic.js';
import type { EngineProfile } from './engine-profile.js';
import { LEAST_FITTED, LEAST_SCORED } from './fit/engine-traces.js';

/** Between two fits of an engine: with a profile, and without one. */
const EVERY_US = 900e6;
const SOON_US = 120e6;
/** Requests that the first fit waits for, and that are new in each further one. */
export const LEAST_REQUESTS = 2 * (LEAST_FITTED + LEAST_SCORED);
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

  isDue({ samples }: EngineTraffic, { isPinned, profile }: EngineProfile, nowUs: number): boolean {
    if (isPinned || samples.count < LEAST_REQUESTS || samples.total - this.#triedTotal < LEAST_NEW) return false;
    const waitUs = profile === null || this.#isUrgent ? SOON_US : EVERY_US;
    return nowUs - this.#triedUs >= waitUs;
  }

  /** When it was tried last. */
  get triedUs(): number {
    return this.#triedUs;
  }
}
