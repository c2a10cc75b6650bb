import type { RequestCosts, StepCosts } from '../../../replica/latency/profile.js';
import { profileLatency } from '../../../replica/latency/profile-latency.js';
import { tooFewRequests } from '../errors.js';
import { commonFactor, type FitParameter, ownDoubts, type ProfileFamily } from '../families/profile-family.js';
import { type FitReport, type Interval, intervalOf } from '../fit-report.js';
import { normalMatrix } from '../solve/least-squares.js';
import { solve } from '../solve/nnls.js';
import { fitRequests, type LeadingRows, type RequestFit } from './fit-requests.js';
import type { ObservedTrace } from './observed-trace.js';
import { replayErrors } from './request-errors.js';
import { judgedRows } from './request-groups.js';
import { combinations, type SettingsSearch, withSettings } from './settings-search.js';

const LEAST_REQUESTS = 40;
const LEAST_HELD_OUT = 20;
/** A parameter that may as well be a quarter more or less is not known. */
const WIDE = 1.25;
/** A common factor beyond this says that the hardware is another; this many doubts are a surprise. */
const OTHER_HARDWARE = 1.3;
const SURPRISING = 2.5;
/** Of a 95 % interval, in standard deviations. */
const SPAN = 1.96;
/** Every request is in four groups, which are therefore not independent. */
const GROUPINGS = 4;

export interface FittedTraces {
  costs: { step: StepCosts; request: RequestCosts };
  /** Those of the settings searched for that explain most. */
  settings: Record<string, string | number>;
}

/**
 * Fits the requests of all traces, once without the end of each, for the error on that end, and then with it. Settings
 * to search are tried one after the other; the combination with the least loss wins.
 */
export function fitTraces(
  family: ProfileFamily,
  traces: readonly ObservedTrace[],
  heldOut: number,
  search: SettingsSearch,
  report: FitReport,
  progress: (tries: number, loss: number) => void,
): FittedTraces {
  const kept = traces.map((trace) => rowsBefore(trace, 1 - heldOut));
  for (const [i, trace] of traces.entries()) {
    const judged = judgedRows(trace, kept[i]!).length;
    if (judged < LEAST_REQUESTS) throw tooFewRequests(trace.name, judged, LEAST_REQUESTS);
  }
  let tried = 0;
  const fitWith = (settings: Record<string, string | number>, rows: readonly number[]) => {
    const parts = traces.map((trace, i): LeadingRows => ({ trace: withSettings(trace, settings), rows: rows[i]! }));
    let tries = 0;
    const fit = fitRequests(family, parts, (count, loss) => {
      tries = count;
      progress(tried + tries, loss);
    });
    tried += tries;
    return { settings, parts, fit };
  };
  const candidates = combinations(search).map((settings) => fitWith(settings, kept));
  const best = candidates.reduce((least, one) => (one.fit.solution.loss < least.fit.solution.loss ? one : least));
  const whole = fitWith(
    best.settings,
    traces.map(({ table }) => table.count),
  );
  if (candidates.length > 1) {
    report.tried = candidates.map(({ settings, fit }) => ({ settings, loss: fit.solution.loss }));
  }
  report.requests = [];
  for (const [i, { trace }] of best.parts.entries()) {
    const end = trace.table.count;
    const held = end - kept[i]!;
    report.data.push({ name: trace.name, kind: 'requests', used: end, heldOut: held });
    report.requests.push({
      name: trace.name,
      fitted: replayErrors(profileLatency(whole.fit), trace, 0)!,
      heldOut: held < LEAST_HELD_OUT ? null : replayErrors(profileLatency(best.fit), trace, kept[i]!),
    });
    if (held < LEAST_HELD_OUT)
      report.notes.push(`Too few requests at the end of ${trace.name} to judge the profile by.`);
  }
  tellParameters(family, whole.fit, report);
  return { costs: { step: whole.fit.step, request: whole.fit.request }, settings: best.settings };
}

function tellParameters(family: ProfileFamily, fit: RequestFit, report: FitReport): void {
  const intervals = requestIntervals(family.parameters, fit);
  report.parameters.push(...intervals);
  const open = intervals.filter(({ value, high }) => high === null || high > WIDE * value).map(({ name }) => name);
  if (open.length > 0)
    report.notes.push(`The data shows little about ${open.join(', ')}: mostly what was expected of them.`);
  tellSurprises(family, fit, report);
}

/** What is far from the expectation: other hardware, or data that was misread. */
function tellSurprises(family: ProfileFamily, { values, solution }: RequestFit, report: FitReport): void {
  const factor = Math.exp(commonFactor(family, solution.at));
  if (Math.max(factor, 1 / factor) > OTHER_HARDWARE) {
    const how = `${family.together!.names.join(', ')} are ${factor.toFixed(2)} times what ${family.together!.as} takes`;
    report.notes.push(`Not the hardware of the data sheet: ${how}. A share of a GPU, or a capped clock?`);
  }
  for (const [i, doubts] of ownDoubts(family, solution.at).entries()) {
    if (Math.abs(doubts) < SURPRISING) continue;
    const { name, start } = family.parameters[i]!;
    const times = (values[i]! / start / (family.together?.names.includes(name) ? factor : 1)).toFixed(2);
    report.notes.push(`${name} is ${times} times what was expected: believe it for loads like those fitted only.`);
  }
}

/** Rows that arrived in the first part of the time that a trace was measured for. */
function rowsBefore({ table, warmUp }: ObservedTrace, share: number): number {
  if (share >= 1 || table.count === 0) return table.count;
  const first = table.arrivalUs[Math.min(warmUp, table.count - 1)]!;
  const end = first + share * (table.arrivalUs[table.count - 1]! - first);
  let rows = 0;
  while (rows < table.count && table.arrivalUs[rows]! < end) rows++;
  return rows;
}

/** How sure the parameters are, from how steeply the residuals follow them and how large they are. */
function requestIntervals(parameters: readonly FitParameter[], fit: RequestFit): Interval[] {
  const { slopes, residuals } = fit.solution;
  const matrix = normalMatrix(slopes);
  const spare = Math.max(1, fit.observations / GROUPINGS - parameters.length);
  const seen = residuals.subarray(0, fit.observations).reduce((sum, value) => sum + value * value, 0);
  const scale = GROUPINGS * Math.max(1, seen / GROUPINGS / spare);
  return parameters.map(({ name }, i) => {
    const unit = new Float64Array(parameters.length);
    unit[i] = 1;
    const span = SPAN * Math.sqrt(scale * Math.max(0, solve(matrix, unit)[i]!));
    const value = fit.values[i]!;
    return intervalOf(name, value, value * Math.exp(-span), value * Math.exp(span));
  });
}
