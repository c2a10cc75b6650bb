import type { UsualErrors } from '../../gateway/prediction/drift-watch.js';
import { type EngineFacts, UNKNOWN_FACTS } from '../../gateway/prediction/engine-facts.js';
import type { EngineTraffic } from '../../gateway/prediction/engine-traffic.js';
import { EngineProfile } from './engine-profile.js';
import { FitSchedule } from './fit-schedule.js';

/** Endpoints and engines that are remembered, present or not. */
const MOST_CARES = 4096;

/** One endpoint and engine under care. */
export interface Care {
  readonly entry: EngineProfile;
  readonly schedule: FitSchedule;
  /** Of the endpoint; null for one of the configuration file. */
  readonly uid: string | null;
  /** Whether it has been looked after in this process. */
  isSeen: boolean;
  /** As last seen. */
  facts: EngineFacts;
  /** Null before its first request, and for one that is not observed. */
  traffic: EngineTraffic | null;
  /** The usual errors of its profile's predictions, as far as they are known. */
  usual: UsualErrors | null;
}

/** All of them, by endpoint and engine. */
export class Cares {
  readonly #cares = new Map<string, Care>();

  /** @param uid of the endpoint: of another one of that name nothing is kept, and `replaced` is called */
  of(endpoint: string, engine: string, uid: string | null, replaced: () => void = () => {}): Care {
    const key = `${endpoint}\n${engine}`;
    const known = this.#cares.get(key);
    if (known?.uid === uid) return known;
    if (known !== undefined) replaced();
    const entry = new EngineProfile(endpoint, engine);
    const schedule = new FitSchedule();
    const care: Care = { entry, schedule, uid, isSeen: false, facts: UNKNOWN_FACTS, traffic: null, usual: null };
    this.#cares.set(key, care);
    return care;
  }

  /** Whether it is still this one that is cared for. */
  has(care: Care): boolean {
    return this.#cares.get(`${care.entry.endpoint}\n${care.entry.engine}`) === care;
  }

  all(): Care[] {
    return [...this.#cares.values()];
  }

  /** Forgets an endpoint, and calls `gone` with each of its engines. */
  remove(endpoint: string, gone: (engine: string) => void): void {
    for (const [key, { entry }] of this.#cares) {
      if (entry.endpoint !== endpoint) continue;
      this.#cares.delete(key);
      gone(entry.engine);
    }
  }

  /**
   * Where there are too many, those of endpoints that are gone lose their profile: what is saved is read again by the next process
   * only.
   */
  forget(isPresent: (endpoint: string) => boolean): void {
    if (this.#cares.size <= MOST_CARES) return;
    for (const [key, { entry }] of this.#cares) if (!isPresent(entry.endpoint)) this.#cares.delete(key);
  }
}

/** Predictions come from another profile now. */
export function restart(care: Care): void {
  care.usual = null;
  care.traffic?.restart();
}
