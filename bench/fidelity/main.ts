import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { physicsFamily } from '../../src/observe/fit/families/physics-family.js';
import { fitProfile } from '../../src/observe/fit/fit-profile.js';
import { fitRequests } from '../../src/observe/fit/traces/fit-requests.js';
import { replayTrace } from '../../src/observe/fit/traces/replay-trace.js';
import { gpuFamily } from '../../src/replica/latency/physics/gpu-family.js';
import { profileLatency } from '../../src/replica/latency/profile-latency.js';
import { latencyModel } from '../../src/replica/latency/registry.js';
import { AISIMULATE_VERSION, aisimulate } from './aisimulate.js';
import type { AggregateRun, MeasuredRun } from './measured-run.js';
import { readAggregates } from './read-aggregates.js';
import { readBlis16 } from './read-blis16.js';
import { FLEET_RUNS, readFleet } from './read-fleet.js';
import { type H200Model, readH200 } from './read-h200.js';
import { readLlmServingSim } from './read-llmservingsim.js';
import { readQwen3 } from './read-qwen3.js';
import { aggregateScore, METRICS, medianScore, type Score, scoreOf } from './score.js';

/**
 * How far simulated runs are from measured ones, in per cent: with the default latency model, with trained-physics, and with
 * a profile fitted on the first fifth of a run's time, all scored on the rest. Then from fits to other loads and to our own
 * engine. `AISIMULATE=<its command>` adds that simulator's predictions of the same rows. The folder of the measured runs is
 * an argument; without it only our own runs are judged, as most of the others may not be redistributed.
 */
const truth = process.argv[2] ?? fileURLToPath(new URL('../../../../shared/truth', import.meta.url));
const FIRST_PART = 0.2;
/** Of that, what the engine is given to warm up, as `observe --warmup-requests` does: its requests are sent and not fitted. */
const WARM_UP = 1 / 3;
/** The capacities of our engine were read from these runs, before all others: it had launched next to nothing. */
const FRESH = 'burst';
/** One load of a model whose fit predicts the others. */
const ONE_LOAD = 'agg_6rps';
const rival = process.env.AISIMULATE;

const say = (text: string) => process.stdout.write(`${text}\n`);

function row(run: string, how: string, score: Score): void {
  const cells = METRICS.map((metric) => `${score[metric] >= 0 ? '+' : ''}${score[metric].toFixed(1)}`.padStart(8));
  say(`${run.padEnd(38)} ${how.padEnd(10)} ${cells.join(' ')}`);
}

/** As the command line would have it: a latency model, and the rules that come with it. */
function latencyOf(name: string, { model, gpu, tp }: MeasuredRun | AggregateRun) {
  const parallelism = { tp, dp: 1, moeCommBackend: 'allgather_reducescatter' };
  return latencyModel(name).create({ model, gpu, parallelism }, () => {});
}

function byDefault(run: MeasuredRun | AggregateRun) {
  const none = new Float64Array(run.table.count);
  const engine = { ...run.engine, engineRules: gpuFamily(run.gpu.name).engineRules };
  return replayTrace({ ttftUs: none, e2eUs: none, ...run, engine }, latencyOf('physics', run));
}

function byTrainedPhysics(run: MeasuredRun) {
  const { engineRules: _, ...engine } = run.engine;
  return replayTrace({ ...run, engine }, latencyOf('trained-physics', run));
}

function firstRows({ table }: MeasuredRun): number {
  const start = table.arrivalUs[0]!;
  const end = start + FIRST_PART * (table.arrivalUs[table.count - 1]! - start);
  let rows = 0;
  while (table.arrivalUs[rows]! < end) rows++;
  // Of a burst, all of which comes at once, it is the first fifth of the requests.
  return rows > 0 ? rows : Math.floor(FIRST_PART * table.count);
}

const scores: Record<'default' | 'trained' | 'fitted', Score[]> = { default: [], trained: [], fitted: [] };
const compared: { ours: Score; theirs: Score }[] = [];

function judge(run: MeasuredRun): void {
  const rows = firstRows(run);
  const trace = { ...run, warmUp: Math.max(run.warmUp, Math.floor(WARM_UP * rows)) };
  const fit = fitRequests(physicsFamily(run.model, run.gpu, run.tp), [{ trace, rows }], () => {});
  const judged = {
    default: scoreOf(run, byDefault(run), rows),
    trained: scoreOf(run, byTrainedPhysics(run), rows),
    fitted: scoreOf(run, replayTrace(run, profileLatency(fit)), rows),
  };
  for (const [i, how] of (['default', 'trained', 'fitted'] as const).entries()) {
    row(i === 0 ? run.name : '', how, judged[how]);
    scores[how].push(judged[how]);
  }
  if (rival !== undefined) judgeRival(rival, run, rows, judged.default);
}

function judgeRival(program: string, run: MeasuredRun, rows: number, ours: Score): void {
  const predicted = aisimulate(program, run);
  if ('refused' in predicted) {
    say(`${''.padEnd(38)} aisimulate left out: ${predicted.refused}`);
    return;
  }
  const theirs = scoreOf(run, predicted, rows);
  row('', 'aisimulate', theirs);
  compared.push({ ours, theirs });
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
    say(`${''.padEnd(38)} cached ${found} of ${cached}, preemptions ${replayed.preemptions} of ${run.preemptions}`);
  }
}

/** Fits some runs, predicts others. */
function crossed(title: string, fitted: readonly MeasuredRun[], others: readonly MeasuredRun[]): void {
  const [first] = fitted;
  const start = { model: first!.model, gpu: first!.gpu };
  const { profile, report } = fitProfile(
    { traces: fitted },
    { name: title, model: first!.model.name, hardware: first!.gpu.name, tp: first!.tp, start },
  );
  say(`\n${title}`);
  const shown = report.parameters.map(({ name, value }) => `${name} ${value.toPrecision(3)}`).join(', ');
  say(`  ${[shown, ...report.notes].join('\n  ')}`);
  const all = others.map((run) => {
    const score = scoreOf(run, replayTrace(run, profileLatency(profile)), 0);
    row(run.name, 'predicted', score);
    return score;
  });
  row('median size', '', medianScore(all));
}

const h200 = readH200();
const others = existsSync(truth);
if (!others) say(`${truth}: no such folder; only our own runs are judged. Give the folder of the measured runs.\n`);
const blis = others ? readBlis16(join(truth, 'blis16_h100_vllm015')) : [];
const qwen = others ? readQwen3(join(truth, 'qwen3_14b_h100_vllm023')) : [];
const rtx = others ? readLlmServingSim(join(truth, 'llmservingsim_vllm019')) : [];
say(`${'per cent'.padEnd(49)} ${METRICS.map((metric) => metric.padStart(8)).join(' ')}`);
let set = '';
for (const run of [...blis, ...qwen, ...rtx, ...h200.flatMap(({ runs }) => runs)]) {
  if (run.set !== set) say(`\n${run.set}`);
  set = run.set;
  judge(run);
}
for (const model of h200) profiled(model);
if (others) {
  say('\nRuns of which only aggregates are known');
  for (const run of readAggregates(join(truth, 'aggregates_vllm'), blis.find(({ name }) => name === 'general')!)) {
    row(`${run.gpu.name} ${run.name}`, 'default', aggregateScore(run, byDefault(run)));
  }
  const one = qwen.filter(({ name }) => name === ONE_LOAD);
  crossed(
    `Qwen3-14B fitted at ${ONE_LOAD}, other loads predicted`,
    one,
    qwen.filter((run) => !one.includes(run)),
  );
  const fleet = FLEET_RUNS.map((run) => readFleet(join(truth, 'h200_fleet'), run));
  crossed(`Quarters of an H200 fitted on ${FLEET_RUNS[0]}, other runs predicted`, fleet[0]!, fleet.slice(1).flat());
}

say('\nMedian size of the error over all runs');
for (const how of ['default', 'trained', 'fitted'] as const) row('', how, medianScore(scores[how]));
if (rival === undefined) {
  say(`\naisimulate left out: pip install aisimulate==${AISIMULATE_VERSION}, then set AISIMULATE to its command`);
} else {
  say(`\nMedian size of the error over the ${compared.length} runs that both take`);
  row('', 'default', medianScore(compared.map(({ ours }) => ours)));
  row('', 'aisimulate', medianScore(compared.map(({ theirs }) => theirs)));
}
