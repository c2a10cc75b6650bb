import { refuseGiven } from '../config/flag-conflicts.js';
import { checkRunWorkload } from '../config/run-workload.js';
import { conflictingFlags, missingFlag } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import { type RunWorkloadFlags, runWorkloadFlags } from '../flags/run-workload-flags.js';
import type { ObserveFlags } from './observe-flags.js';

/** Any of these selects the requests to send. */
const PLANS = ['trace', 'workload-spec', 'workload', 'rate', 'concurrency'] as const;

export type GivenObserveFlags = FlagValues<ObserveFlags>;

/** Refuses flags that contradict each other or have no effect, and those that are missing. */
export function checkObserveFlags(flags: GivenObserveFlags): void {
  const { values } = flags;
  if (values['server-url'] === null) {
    throw missingFlag('--server-url', 'is required', 'give its address, as in http://127.0.0.1:8000');
  }
  if (values.model === null) throw missingFlag('--model', 'is required', 'name the model as the server does');
  if (!PLANS.some((name) => flags.given(name))) {
    const hint = `give one of ${PLANS.map((name) => `--${name}`).join(', ')}`;
    throw missingFlag('--rate', 'or another plan is required', hint);
  }
  if (values.trace === null) checkGenerated(flags);
  else checkTrace(flags);
  checkOutputs(flags);
}

/** The flags that `run` has, as it reads them. */
export function generatorFlags(flags: GivenObserveFlags): FlagValues<RunWorkloadFlags> & GivenObserveFlags {
  const values = { ...flags.values, 'think-time-ms': flags.values['think-time-ms'] ?? 0 };
  return { ...flags, values } as FlagValues<RunWorkloadFlags> & GivenObserveFlags;
}

function checkGenerated(flags: GivenObserveFlags): void {
  const ofTraces = ['trace-model', 'trace-answered', 'session-mode', 'think-time-dist'] as const;
  refuseGiven(flags, ofTraces, 'there is no trace', 'add --trace, or leave it out');
  checkRunWorkload(generatorFlags(flags));
}

function checkTrace(flags: GivenObserveFlags): void {
  const { values } = flags;
  const generated = Object.keys(runWorkloadFlags).filter((name) => !['timeout', 'think-time-ms'].includes(name));
  const problem = '--trace sets what is sent';
  refuseGiven(flags, generated as (keyof RunWorkloadFlags)[], problem, 'keep one of them');
  const pauses = ['think-time-ms', 'think-time-dist'] as const;
  if (values['session-mode'] === 'fixed') {
    const fixed = 'turns are sent at their recorded times with --session-mode fixed';
    refuseGiven(flags, pauses, fixed, 'add --session-mode closed-loop, or leave it out');
  }
  if (values['think-time-ms'] !== null) {
    refuseGiven(flags, ['think-time-dist'], 'given together with --think-time-ms', 'keep one of them');
  }
}

function checkOutputs(flags: GivenObserveFlags): void {
  const { values } = flags;
  const pair = ['trace-header', 'trace-data'] as const;
  if (values['trace-output'] !== null) {
    refuseGiven(flags, pair, '--trace-output names the files of the trace already', 'keep one of them');
  }
  for (const [name, other] of [pair, [...pair].reverse()]) {
    if (values[name!] !== null && values[other!] === null) {
      throw missingFlag(
        `--${other}`,
        `is required with --${name}`,
        'give both, or --trace-output for a pair of one name',
      );
    }
  }
  const parts = [
    ['record-itl', 'itl-output', []],
    ['scrape-kv-metrics', 'kv-metrics-output', ['scrape-interval-ms']],
  ] as const;
  for (const [name, output, more] of parts) {
    if (!values[name]) {
      refuseGiven(flags, [output, ...more], `--${name} is not given`, `add --${name}, or leave it out`);
    } else if (values[output] === null && values['trace-output'] === null && values['trace-data'] === null) {
      throw missingFlag(`--${output}`, `is required with --${name} where no trace is written`, 'name the file');
    }
  }
  if (values['record-itl'] && values['no-streaming']) {
    throw conflictingFlags('--record-itl', 'responses are not streamed', 'leave it out, or leave out --no-streaming');
  }
}
