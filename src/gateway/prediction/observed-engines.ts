import { EngineTraffic } from './engine-traffic.js';

/** Endpoints and engines that are observed: at most about 60 MB. */
const MOST_OBSERVED = 256;

/** The traffic of each endpoint and engine, by their names. */
export class ObservedEngines {
  readonly #byEndpoint = new Map<string, Map<string, EngineTraffic>>();
  /** The last one asked for: mostly the next request's as well. */
  #last: EngineTraffic | null = null;
  #count = 0;

  /** Null for one beyond the limit. */
  of(endpoint: string, engine: string): EngineTraffic | null {
    const last = this.#last;
    if (last !== null && last.endpoint === endpoint && last.engine === engine) return last;
    const found = this.#byEndpoint.get(endpoint)?.get(engine) ?? this.#add(endpoint, engine);
    if (found !== null) this.#last = found;
    return found;
  }

  /** Null before the first request. */
  find(endpoint: string, engine: string): EngineTraffic | null {
    return this.#byEndpoint.get(endpoint)?.get(engine) ?? null;
  }

  all(): EngineTraffic[] {
    return [...this.#byEndpoint.values()].flatMap((engines) => [...engines.values()]);
  }

  /** Forgets endpoints that are gone. */
  keep(isPresent: (endpoint: string) => boolean): void {
    for (const [endpoint, engines] of this.#byEndpoint) {
      if (isPresent(endpoint)) continue;
      this.#byEndpoint.delete(endpoint);
      this.#count -= engines.size;
      this.#last = null;
    }
  }

  #add(endpoint: string, engine: string): EngineTraffic | null {
    if (this.#count === MOST_OBSERVED) return null;
    const traffic = new EngineTraffic(endpoint, engine);
    const engines = this.#byEndpoint.get(endpoint);
    if (engines === undefined) this.#byEndpoint.set(endpoint, new Map([[engine, traffic]]));
    else engines.set(engine, traffic);
    this.#count++;
    return traffic;
  }
}
