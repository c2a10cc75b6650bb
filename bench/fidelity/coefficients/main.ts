import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PhysicsCoefficients } from '../../../src/replica/latency/gpu-coefficients.js';
import type { AggregateRun, MeasuredRun } from '../measured-run.js';
import { readAggregates } from '../read-aggregates.js';
import { readBlis16 } from '../read-blis16.js';
import { readH200 } from '../read-h200.js';
import { readLlmServingSim } from '../read-llmservingsim.js';
import { readQwen3 } from '../read-qwen3.js';
import { METRICS, scoreOf } from '../score.js';
import { type Doubts, type FittedRun, fitCoefficients, replayWith } from './coefficient-fit.js';

/**
 * Fits the coefficients of `catalogue/latency.json` to measured runs, family by family, and once more for each model of the
 * H100 without that model's runs. Prints what it found; nothing is written. `npm run bench:coefficients -- [folder] [family]`.
 */
const truth = process.argv[2] ?? fileURLToPath(new URL('../../../../../shared/truth', import.meta.url));
const only = process.argv[3];

/** Where the search starts, and how far it may go: data sheets and what others have measured. */
const START: PhysicsCoefficients = {
  weightShare: 0.87,
  contextShare: 0.95,
  matrixShare: 0.64,
  attentionShare: 0.35,
  overlap: 2,
  linkGBs: 300,
  layerUs: 59,
  splitLayerUs: 11.5,
  promptLayerUs: 5,
  launchLayerUs: 60,
  stepUs: 100,
  requestUs: 8,
  crowdUs: 0.05,
  promptUs: 50,
  unevenContext: 0.02,
  sharedContext: 0.75,
  queueingUs: 8000,
};
const DOUBTS: Doubts = {
  weightShare: 0.06,
  contextShare: 0.02,
  matrixShare: 0.1,
  attentionShare: 0.4,
  overlap: 0.4,
  linkGBs: 0.3,
  layerUs: 0.3,
  splitLayerUs: 0.5,
  promptLayerUs: 1,
  launchLayerUs: 0.7,
  stepUs: 1,
  requestUs: 0.6,
  crowdUs: 1,
  promptUs: 1,
  unevenContext: 1,
  queueingUs: 0.3,
};
/** Where a search begins that has been made before: found values, to save time. The priors stay those above. */
const FOUND: PhysicsCoefficients = {
  ...START,
  weightShare: 0.904,
  contextShare: 1,
  matrixShare: 0.668,
  attentionShare: 0.419,
  overlap: 3.55,
  linkGBs: 355,
  layerUs: 53,
  splitLayerUs: 9.04,
  promptLayerUs: 8.94,
  stepUs: 60.2,
  requestUs: 8.48,
  crowdUs: 0.129,
  promptUs: 65.8,
  unevenContext: 0.0138,
  queueingUs: 7150,
};
/** A family with a run or two: only what differs most from GPU to GPU. */
const FEW_DOUBTS: Doubts = { weightShare: 0.3, contextShare: 0.1, matrixShare: 0.2, layerUs: 0.2, queueingUs: 0.2 };
/** One run near saturation cannot separate weights from tokens: memory of this kind is read nearly at its rate, while the power limit holds back the cores. */
const L40S_DOUBTS: Doubts = { ...FEW_DOUBTS, weightShare: 0.03, contextShare: 0.05, matrixShare: 0.5 };
/** Our own engine waits for every step and has no server before it. */
const OWN_START = { ...START, weightShare: 0.93, stepUs: 200, queueingUs: 20, crowdUs: 0.01, launchLayerUs: 285 };
const OWN_DOUBTS: Doubts = { ...DOUBTS, weightShare: 0.03, launchLayerUs: 0.1, layerUs: 0.5, sharedContext: 0.1 };
for (const name of ['queueingUs', 'linkGBs', 'splitLayerUs'] as const) delete OWN_DOUBTS[name];

const say = (text: string) => process.stdout.write(`${text}\n`);

function show(runs: readonly FittedRun[], coefficients: PhysicsCoefficients): void {
  for (const run of runs) {
    const simulated = replayWith(run, coefficients);
    const label = `  ${run.set.slice(0, 24)} ${run.name}`.padEnd(50);
    if ('measuredMs' in run) say(label + aggregateErrors(run, simulated.e2eUs, simulated.ttftUs));
    else {
      const score = scoreOf(run, simulated, 0);
      say(label + METRICS.map((metric) => `${metric} ${score[metric].toFixed(1)}`.padStart(14)).join(''));
    }
  }
}

function aggregateErrors(run: AggregateRun, e2eUs: Float64Array, ttftUs: Float64Array): string {
  const mean = (us: Float64Array) => us.subarray(run.warmUp).reduce((sum, value) => sum + value, 0);
  const off = (us: Float64Array, ms: number) =>
    (100 * (mean(us) / (us.length - run.warmUp) / 1000 / ms - 1)).toFixed(1);
  return `e2e ${off(e2eUs, run.measuredMs.e2e_mean)}  ttft ${off(ttftUs, run.measuredMs.ttft_mean)}`;
}

function report(title: string, runs: readonly FittedRun[], coefficients: PhysicsCoefficients): void {
  const text = JSON.stringify(coefficients, (_, value) =>
    typeof value === 'number' ? Number(value.toPrecision(3)) : value,
  );
  say(`\n${title}\n  ${text}`);
  show(runs, coefficients);
}

const alike = (runs: readonly (MeasuredRun | AggregateRun)[], by: (run: MeasuredRun | AggregateRun) => string) =>
  runs.map((run): FittedRun => ({ ...run, alike: Math.sqrt(runs.filter((other) => by(other) === by(run)).length) }));

const blis = readBlis16(join(truth, 'blis16_h100_vllm015'));
const aggregates = readAggregates(join(truth, 'aggregates_vllm'), blis.find(({ name }) => name === 'general')!);
const on = (gpu: string) => aggregates.filter((run) => run.gpu.name.startsWith(gpu));
const h100 = alike(
  [...blis, ...readQwen3(join(truth, 'qwen3_14b_h100_vllm023')), ...on('H100')],
  ({ model }) => model.name,
);
const h200 = alike(
  readH200().flatMap(({ runs }) => runs),
  ({ model }) => model.name,
);
const progress = (round: number, loss: number) => process.stderr.write(`  round ${round}: ${loss.toFixed(1)}\n`);

let found = FOUND;
if (only === undefined || only === 'H100' || only === 'models') {
  found = fitCoefficients(h100, START, DOUBTS, FOUND, progress);
  report('H100', h100, found);
}
if (only === undefined || only === 'models') {
  for (const model of new Set(h100.map((run) => run.model.name))) {
    const others = h100.filter((run) => run.model.name !== model);
    const left = h100.filter((run) => run.model.name === model);
    report(`H100 without ${model}`, left, fitCoefficients(others, START, DOUBTS, found));
  }
}
for (const gpu of ['A100', 'L40S']) {
  if (only !== undefined && only !== gpu) continue;
  const runs = alike(on(gpu), ({ name }) => name);
  report(`${gpu} with the H100's`, runs, found);
  report(gpu, runs, fitCoefficients(runs, found, gpu === 'L40S' ? L40S_DOUBTS : FEW_DOUBTS));
}
if (only === undefined || only === 'H200') {
  report("H200 with the H100's", h200, { ...found, queueingUs: 20 });
  report('H200', h200, fitCoefficients(h200, OWN_START, OWN_DOUBTS, OWN_START, progress));
}
if (only === undefined || only === 'H200-models') {
  for (const model of new Set(h200.map((run) => run.model.name))) {
    const left = h200.filter((run) => run.model.name === model);
    const others = h200.filter((run) => run.model.name !== model);
    report(`H200 without ${model}`, left, fitCoefficients(others, OWN_START, OWN_DOUBTS));
  }
}
if (only === undefined || only === 'RTX') {
  for (const run of readLlmServingSim(join(truth, 'llmservingsim_vllm019'))) {
    const runs = alike([run], ({ name }) => name);
    report(`${run.name} with the H100's`, runs, found);
    report(run.name, runs, fitCoefficients(runs, found, FEW_DOUBTS));
  }
}
