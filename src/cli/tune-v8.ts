import { setFlagsFromString } from 'node:v8';

/** Below this many requests a run is over before well-optimised code has paid for its compilation. */
const SHORT_RUN = 30_000;

/** V8's tier-up budget has another name and meaning from version 12 on. */
const HAS_INTERRUPT_BUDGET = process.versions.v8.startsWith('11.');

/** Passes of the optimising compiler that take longer than they save in a run of a fraction of a second. */
const SLOW_PASSES = ['escape', 'loop-peeling', 'loop-variable', 'jt', 'allocation-folding'];

/**
 * Sets how much effort V8 spends on optimising. Its own limits suit servers: on a short simulation the compiler then
 * takes as long as the simulation and slows it down, because both share the cores. So a short run optimises early and
 * lightly, a long one thoroughly. Called at the start with 0, and again once the number of requests is known.
 */
export function limitCompiler(requests: number): void {
  const short = requests < SHORT_RUN;
  const flags = SLOW_PASSES.map((pass) => `--${short ? 'no-' : ''}turbo-${pass}`);
  flags.push(`--max-inlined-bytecode-size-cumulative=${short ? 150 : 450}`);
  if (HAS_INTERRUPT_BUDGET) flags.push(`--interrupt-budget=${short ? 20_000 : 132 * 1024}`);
  setFlagsFromString(flags.join(' '));
}

/**
 * Sets V8 up for a process that serves for long: the best code pays, and short pauses matter more than their sum. By
 * itself V8 collects young garbage with helper threads and waits for the last of them; where all processors are busy,
 * as with engines and clients on one machine, that wait is several times the work (`docs/benchmarks.md`).
 */
export function tuneServer(): void {
  limitCompiler(Number.POSITIVE_INFINITY);
  setFlagsFromString('--no-parallel-scavenge');
}
