import type { RequestCosts, StepCosts } from '../../../replica/latency/profile.js';
import { tooFewSteps } from '../errors.js';
import type { FitReport } from '../fit-report.js';
import { fitSharedContext, type SharedContextFit } from './shared-context.js';
import { stepIntervals } from './step-confidence.js';
import { stepErrors } from './step-errors.js';
import type { StepSample } from './step-sample.js';

const LEAST_STEPS = 60;
/** With fewer steps the error describes them rather than the profile. */
const LEAST_HELD_OUT = 20;
/** With fewer steps in service the range of the slowdown is as doubtful as the slowdown. */
const LEAST_SERVED = 500;
/** A GPU that takes more than twice as long has another reason for it. */
const MOST_SLOWDOWN = 1;

/** Steps of one run, in order of time, or the rows of a table. */
export interface StepRun {
  name: string;
  samples: readonly StepSample[];
  /** What the run does not show, a sentence each. */
  notes?: readonly string[];
}

/** Fits the steps of all runs. The error of a fit without the end of each run on that end goes to the report. */
export function fitStepRuns(
  runs: readonly StepRun[],
  heldOut: number,
  launchedAbove: number,
  report: FitReport,
): { step: StepCosts; request: RequestCosts } {
  const all = runs.flatMap(({ samples }) => samples);
  if (all.length < LEAST_STEPS) throw tooFewSteps(all.length, LEAST_STEPS);
  const first: StepSample[] = [];
  const last: StepSample[] = [];
  for (const { name, samples } of runs) {
    // A table has no order: its end is not held out.
    const kept = samples.every(({ inService }) => inService)
      ? Math.floor(samples.length * (1 - heldOut))
      : samples.length;
    first.push(...samples.slice(0, kept));
    last.push(...samples.slice(kept));
    report.data.push({ name, kind: 'steps', used: samples.length, heldOut: samples.length - kept });
  }
  const { fit, measured, doubtful } = fitLoadedSteps(all, launchedAbove);
  const judged = last.length < LEAST_HELD_OUT ? null : stepErrors(fitLoadedSteps(first, launchedAbove).fit.costs, last);
  report.steps = { fitted: stepErrors(fit.costs, all), heldOut: judged };
  report.parameters.push(...stepIntervals(fit));
  report.notes.push(...runs.flatMap(({ notes }) => notes ?? []), ...notesOn(all, fit.costs));
  if (doubtful) report.notes.push('These steps do not show whether the GPU slows down under load: not simulated.');
  if (!measured)
    report.notes.push(
      'Requests shared too little of their contexts to measure what sharing saves: taken from an H200.',
    );
  if (judged === null)
    report.notes.push('Too few steps in service to hold some back: the prediction error is not known.');
  return { step: fit.costs, request: { queueingUs: 0, outputTokenUs: 0, postDecodeUs: 0 } };
}

function notesOn(samples: readonly StepSample[], { launch, slowdown }: StepCosts): string[] {
  const notes: string[] = [];
  const most = (value: (sample: StepSample) => number) => samples.reduce((m, sample) => Math.max(m, value(sample)), 0);
  const decodes = most(({ shape }) => (shape.prefills === 0 ? shape.decodes : 0));
  const tokens = most(({ shape }) => (shape.prefills > 0 ? shape.decodes + shape.prefillTokens : 0));
  notes.push(
    `Steps of more than ${decodes} decoding requests, or of more than ${tokens} tokens with prompts, were not seen.`,
  );
  if (launch !== null && launch.firstUs > 0)
    notes.push(
      `The first step of each size above ${launch.aboveTokens} tokens took ${(launch.firstUs / 1000).toFixed(1)} ms longer: an engine that has served for a while has seen them all, and is simulated like that.`,
    );
  if (slowdown !== undefined)
    notes.push(`A GPU that has computed all it can for a while takes ${(100 * slowdown.share).toFixed(1)} % longer.`);
  return notes;
}

interface LoadedStepsFit extends SharedContextFit {
  /** A slowdown would explain some of the steps, but chance would as well. */
  doubtful: boolean;
}

/**
 * Fits steps, and how much the GPU slows down under load where they show it: extrapolated to higher loads, a slowdown
 * fitted to noise would multiply.
 */
export function fitLoadedSteps(samples: readonly StepSample[], launchedAbove: number): LoadedStepsFit {
  const found = fitSharedContext(samples, { launchedAbove, slowsDown: true });
  const { slowdown } = found.fit.costs;
  if (slowdown === undefined) return { ...found, doubtful: false };
  const { low } = stepIntervals(found.fit).find(({ name }) => name === 'slowdown')!;
  const served = samples.reduce((count, { inService }) => count + (inService ? 1 : 0), 0);
  const isKnown = served >= LEAST_SERVED && low !== null && low > 0 && slowdown.share <= MOST_SLOWDOWN;
  if (isKnown) return { ...found, doubtful: false };
  return { ...fitSharedContext(samples, { launchedAbove, slowsDown: false }), doubtful: true };
}
