import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { physicsFamily } from '../../src/observe/fit/families/physics-family.js';
import { fitProfile } from '../../src/observe/fit/fit-profile.js';
import { fitRequests } from '../../src/observe/fit/traces/fit-requests.js';
import { replayTrace } from '../../src/observe/fit/traces/replay-trace.js';
import { profileLatency } from '../../src/replica/latency/profile-latency.js';
import { latencyModel } from '../../src/replica/latency/registry.js';
import type { MeasuredRun } from './measured-run.js';
import { readBlis16 } from './read-blis16.js';
import { type H200Model, readH200 } from './read-h200.js';
import { readLlmServingSim } from './read-llmservingsim.js';
import { readQwen3 } from './read-qwen3.js';
import { METRICS, type Score, scoreOf } from './score.js';

/**
 * How far simulated runs are from measured ones, in per cent: with the coefficients we ship, and with a profile fitted
 * on the first fifth of a run's time and scored on the rest. Our own runs also from their step table and one run, as
 * the tests do. The folder of the measured runs is an argument; most of them may not be redistributed.
 */
const truth = process.argv[2] ?? fileURLToPath(new URL('../../../../shared/truth', import.meta.url));
const FIRST_PART = 0.2;
/**
 * Of that, what the engine is given to warm up, as `observe --warmup-requests` does: its requests are sent and not
 * fitted.
 */
const WARM_UP = 1 / 3;
/** The capacities of our engine were read from these runs, before all others: it had launched next to nothing. */
const FRESH = 'burst';
if (!existsSync(truth)) {
  process.stderr.write(`${truth}: no such folder; give the folder of the measured runs\n`);
  process.exit(2);
}

const say = (text: string) => process.stdout.write(`${text}\n`);

function row(run: string, how: string, score: Score): void {
  const cells = METRICS.map((metric) => `${score[metric] >= 0 ? '+' : ''}${score[metric].toFixed(1)}`.padStart(8));
  say(`${run.padEnd(34)} ${how.padEnd(10)} ${cells.join(' ')}`);
}

/** The simulator with defaults: coefficients, rules, and a client without limits. */
function shipped(run: MeasuredRun) {
  const parallelism = { tp: 1, dp: 1, moeCommBackend: 'allgather_reducescatter' };
  const { model, gpu } = run;
  const latency = latencyModel('trained-physics').create({ model, gpu, parallelism }, () => {});
  const { engineRules: _, ...engine } = run.engine;
  return replayTrace({ ...run, engine, maxInFlight: Number.POSITIVE_INFINITY }, latency);
}

function firstRows({ table }: MeasuredRun): number {
  const start = table.arrivalUs[0]!;
  const end = start + FIRST_PART * (table.arrivalUs[table.count - 1]! - start);
  let rows = 0;
  while (table.arrivalUs[rows]! < end) rows++;
  // Of a burst, all of which comes at once, it is the first fifth of the requests.
  return rows > 0 ? rows : Math.floor(FIRST_PART * table.count);
}

function judge(run: MeasuredRun, fitted: Score[], asShipped: Score[]): void {
  const rows = firstRows(run);
  const before = scoreOf(run, shipped(run), rows);
  const family = physicsFamily(run.model, run.gpu, 1);
  const trace = { ...run, warmUp: Math.max(run.warmUp, Math.floor(WARM_UP * rows)) };
  const fit = fitRequests(family, [{ trace, rows }], () => {});
  const after = scoreOf(run, replayTrace(run, profileLatency(fit)), rows);
  row(run.name, 'shipped', before);
  row('', 'fitted', after);
  fitted.push(after);
  asShipped.push(before);
}

function profiled({ name, runs, steps }: H200Model): void {
  const { profile } = fitProfile({ steps }, { name, model: name, hardware: 'H200', tp: 1 });
  say(`\n${name}, H200, from its step table and r60`);
  for (const run of runs) {
    const replayed = replayTrace(run, profileLatency(profile, run.name === FRESH ? 'fresh' : 'warm'));
    row(run.name, 'profile', scoreOf(run, replayed, 0));
    const found = replayed.cachedTokens.reduce((sum, tokens) => sum + tokens, 0);
    const cached = run.cachedTokens.reduce((sum, tokens) => sum + tokens, 0);
    if (cached + run.preemptions === 0) continue;
    say(`${''.padEnd(34)} cached ${found} of ${cached}, preemptions ${replayed.preemptions} of ${run.preemptions}`);
  }
}

const h200 = readH200(join(truth, 'h200_own'));
const sets = [
  ...readBlis16(join(truth, 'blis16_h100_vllm015')),
  ...readQwen3(join(truth, 'qwen3_14b_h100_vllm023')),
  ...readLlmServingSim(join(truth, 'llmservingsim_vllm019')),
  ...h200.flatMap(({ runs }) => runs),
];
say(`${'per cent'.padEnd(45)} ${METRICS.map((metric) => metric.padStart(8)).join(' ')}`);
const fitted: Score[] = [];
const asShipped: Score[] = [];
let set = '';
for (const run of sets) {
  if (run.set !== set) say(`\n${run.set}`);
  set = run.set;
  judge(run, fitted, asShipped);
}
for (const model of h200) profiled(model);

const middle = (scores: readonly Score[]) => {
  const medians = METRICS.map((metric) => {
    const sizes = scores.map((score) => Math.abs(score[metric])).sort((a, b) => a - b);
    return [metric, (sizes[Math.floor((sizes.length - 1) / 2)]! + sizes[Math.ceil((sizes.length - 1) / 2)]!) / 2];
  });
  return Object.fromEntries(medians) as unknown as Score;
};
say('\nMedian size of the error over all runs');
row('', 'shipped', middle(asShipped));
row('', 'fitted', middle(fitted));
