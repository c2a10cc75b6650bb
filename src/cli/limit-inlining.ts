import { setFlagsFromString } from 'node:v8';

/** Below this many requests a run is over before deeply inlined code has paid for its compilation. */
const SHORT_RUN = 30_000;

/**
 * Tells V8 how much code it may inline into one function while it optimises. Its own limit suits servers: on a short
 * simulation the compiler then takes as long as the simulation and slows it down: it shares the cores.
 */
export function limitInlining(requests: number): void {
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${requests < SHORT_RUN ? 150 : 450}`);
}
