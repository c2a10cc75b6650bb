import { setFlagsFromString } from 'node:v8';
import { limitCompiler } from './limit-compiler.js';

/**
 * Sets V8 up for a process that serves for long: the best code pays, and short pauses matter more than their sum. By itself
 * V8 collects young garbage with helper threads and waits for the last of them; where all processors are busy, as with
 * engines and clients on one machine, that wait is several times the work (`docs/benchmarks.md`).
 */
export function tuneServer(): void {
  limitCompiler(Number.POSITIVE_INFINITY);
  setFlagsFromString('--no-parallel-scavenge');
}
