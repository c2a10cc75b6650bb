import type { FlagValues } from '../flags/flag.js';
import type { RunWorkloadFlags } from '../flags/run-workload-flags.js';
import { refuseGiven } from './flag-conflicts.js';

const LENGTH_FLAGS = [
  'prompt-tokens',
  'prompt-tokens-stdev',
  'prompt-tokens-min',
  'prompt-tokens-max',
  'output-tokens',
  'output-tokens-stdev',
  'output-tokens-min',
  'output-tokens-max',
] as const;

/** Refuses workload flags that contradict each other. */
export function checkRunWorkload(flags: FlagValues<RunWorkloadFlags>): void {
  const { values } = flags;
  if (values.concurrency !== null) {
    const problem = 'contradicts --concurrency: such clients send when they have their answer';
    refuseGiven(flags, ['rate'], problem, 'keep one of them');
  } else {
    const problem = 'no client waits for its answer';
    refuseGiven(flags, ['think-time-ms'], problem, 'add --concurrency, or leave it out');
  }
  if (values.workload !== 'distribution') {
    const problem = `--workload ${values.workload} has its own lengths`;
    refuseGiven(flags, LENGTH_FLAGS, problem, 'leave it out, or leave out --workload');
  }
}
