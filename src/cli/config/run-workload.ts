import { isLengthPreset } from '../../workload/generate/presets.js';
import type { FlagValues } from '../flags/flag.js';
import type { RunWorkloadFlags } from '../flags/run-workload-flags.js';
import type { NamedPath } from '../output/output-files.js';
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
/** Flags that a specification sets for each client. */
const CLIENT_FLAGS = ['concurrency', 'think-time-ms', ...LENGTH_FLAGS, 'prefix-tokens'] as const;

/** Refuses workload flags that contradict each other. */
export function checkRunWorkload(flags: FlagValues<RunWorkloadFlags>): void {
  const { values } = flags;
  if (values['workload-spec'] !== null) {
    refuseGiven(flags, ['workload'], 'given together with --workload-spec', 'keep one of them');
    refuseGiven(flags, CLIENT_FLAGS, '--workload-spec sets it for each client', 'change it there, or leave one out');
    return;
  }
  if (!isLengthPreset(values.workload)) {
    const problem = `--workload ${values.workload} defines its own clients`;
    const hint = `leave it out, or edit what 'twinyard convert preset ${values.workload}' prints`;
    refuseGiven(flags, CLIENT_FLAGS, problem, hint);
    return;
  }
  if (values.concurrency !== null) {
    const problem = 'contradicts --concurrency: its clients send when they have received a response';
    refuseGiven(flags, ['rate'], problem, 'keep one of them');
  } else {
    const problem = 'no client waits for a response';
    refuseGiven(flags, ['think-time-ms'], problem, 'add --concurrency, or leave it out');
  }
  if (values.workload !== 'distribution') {
    const problem = `--workload ${values.workload} has its own lengths`;
    refuseGiven(flags, LENGTH_FLAGS, problem, 'leave it out, or leave out --workload');
  }
}

/** Files that describe the workload. */
export function workloadInputs({ values }: FlagValues<RunWorkloadFlags>): NamedPath[] {
  const path = values['workload-spec'];
  return path === null ? [] : [{ flag: '--workload-spec', path }];
}
