import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { fitProfile } from '../src/observe/fit/fit-profile.js';
import type { ObservedTrace } from '../src/observe/fit/traces/observed-trace.js';
import { replayTrace } from '../src/observe/fit/traces/replay-trace.js';
import { readH200Run } from '../src/observe/truth/h200-run.js';
import { readH200Steps, readH200StepTable } from '../src/observe/truth/h200-steps.js';
import { profileLatency } from '../src/replica/latency/profile-latency.js';

/**
 * Runs of a real engine on a real GPU, predicted from a table of its step times and one run at 60 % of its capacity. The
 * bounds are per cent of the means over requests: docs/fidelity.md.
 */
const WITHIN = { e2e: 3, itl: 3, ttft: 8 };
/** So close to saturation 1 % of step time is 3 % of E2E and 9 % of TTFT. */
const NEAR_SATURATION = { e2e: 10, itl: 10, ttft: 25 };
/** Capacities were read from these runs, before all others. */
const FRESH = 'burst';

const BOUNDS: Record<string, Record<string, typeof WITHIN>> = {
  'qwen3-8b': {
    r30: WITHIN,
    'r60-repeat': WITHIN,
    r85: WITHIN,
    'r85-repeat': WITHIN,
    r130: WITHIN,
    prefix: WITHIN,
    burst: WITHIN,
  },
  'llama3.2-3b': { r30: WITHIN, r105: NEAR_SATURATION, small_kv: WITHIN, burst: WITHIN },
};

const folderOf = (model: string) => fileURLToPath(new URL(`./fidelity/${model}/`, import.meta.url));

function runOf(model: string, name: string) {
  const runs = JSON.parse(readFileSync(`${folderOf(model)}runs.json`, 'utf8'));
  return readH200Run(name, `${folderOf(model)}${name}.csv.gz`, runs[name].kv_blocks);
}

function profileOf(model: string) {
  const steps = [
    { name: 'table', samples: readH200StepTable(`${folderOf(model)}step_table.csv.gz`) },
    { name: 'r60', samples: readH200Steps(`${folderOf(model)}r60-steps.csv.gz`) },
  ];
  return fitProfile({ steps }, { name: model, model, hardware: 'H200', tp: 1 });
}

type Latencies = Pick<ObservedTrace, 'ttftUs' | 'e2eUs'>;

/** Simulated mean over measured mean, less 1, in per cent. */
function errorsOf({ table, ...measured }: ObservedTrace, simulated: Latencies): typeof WITHIN {
  const meanOf = (value: (row: number) => number) => {
    let sum = 0;
    for (let row = 0; row < table.count; row++) sum += value(row);
    return sum / table.count;
  };
  const gapOf = (side: Latencies) => (row: number) =>
    (side.e2eUs[row]! - side.ttftUs[row]!) / (table.outputTokens[row]! - 1);
  const error = (a: number, b: number) => 100 * (a / b - 1);
  return {
    e2e: error(
      meanOf((row) => simulated.e2eUs[row]!),
      meanOf((row) => measured.e2eUs[row]!),
    ),
    itl: error(meanOf(gapOf(simulated)), meanOf(gapOf(measured))),
    ttft: error(
      meanOf((row) => simulated.ttftUs[row]!),
      meanOf((row) => measured.ttftUs[row]!),
    ),
  };
}

describe.each(Object.keys(BOUNDS))('%s on an H200, from its step table and one run', (model) => {
  const { profile, report } = profileOf(model);
  test('the fit explains the steps it has seen, and those it has not', () => {
    expect(report.steps!.fitted.medianAbs).toBeLessThan(0.03);
    expect(report.steps!.heldOut!.medianAbs).toBeLessThan(0.03);
    expect(Math.abs(report.steps!.heldOut!.total)).toBeLessThan(0.02);
    expect(Math.abs(report.steps!.fitted.total)).toBeLessThan(0.005);
  });

  test.each(Object.keys(BOUNDS[model]!))('%s', (name) => {
    const run = runOf(model, name);
    const simulated = replayTrace(run, profileLatency(profile, name === FRESH ? 'fresh' : 'warm'));
    const errors = errorsOf(run, simulated);
    for (const [metric, bound] of Object.entries(BOUNDS[model]![name]!)) {
      expect(Math.abs(errors[metric as keyof typeof errors]), `${metric} of ${name}`).toBeLessThan(bound);
    }
    const cached = run.cachedTokens.reduce((sum, tokens) => sum + tokens, 0);
    const found = simulated.cachedTokens.reduce((sum, tokens) => sum + tokens, 0);
    expect(Math.abs(found - cached)).toBeLessThanOrEqual(0.01 * cached);
    expect(Math.abs(simulated.preemptions - run.preemptions)).toBeLessThanOrEqual(0.15 * run.preemptions);
  });
});
