import type { GpuSpec, ModelSpec } from '../../replica/catalogue/contract.js';
import type {
  LatencyProfile,
  ProfileDimensions,
  ProfileScheduler,
  ProfileUncertainty,
  RequestCosts,
  StepCosts,
} from '../../replica/latency/profile.js';
import { noStart, nothingToFit } from './errors.js';
import { physicsFamily } from './families/physics-family.js';
import type { ProfileFamily } from './families/profile-family.js';
import { scaledFamily } from './families/scaled-family.js';
import type { FitReport } from './fit-report.js';
import { fitStepRuns, type StepRun } from './steps/fit-step-runs.js';
import { fitTraces } from './traces/fit-traces.js';
import type { ObservedTrace } from './traces/observed-trace.js';
import type { SettingsSearch } from './traces/settings-search.js';

/** Steps that are launched kernel by kernel, and the share of the data that is held out. */
const LAUNCHED_ABOVE = 512;
const HELD_OUT = 0.2;
/** How far requests may change the costs of measured steps, and of another engine's profile. */
const DOUBT_AFTER_STEPS = 0.05;
const DOUBT_AFTER_PROFILE = 0.3;
/** The same run twice differs by this in step times; the host's work, on our H200's machine, by this from run to run. */
const REPEATABLE = 0.01;
const HOST_SPREAD = 0.27;
const NO_REQUEST_COSTS: RequestCosts = { queueingUs: 0, outputTokenUs: 0, postDecodeUs: 0 };

/** What was measured: runs and tables of steps, requests of one engine, or both. */
export interface FitInputs {
  steps?: readonly StepRun[];
  traces?: readonly ObservedTrace[];
}

/** What requests alone are explained from: the data sheets of model and GPU, or the profile of a similar engine. */
export type FitStart = { model: ModelSpec; gpu: GpuSpec } | { profile: LatencyProfile };

export interface FitOptions {
  name: string;
  model: string;
  hardware: string;
  tp: number;
  start?: FitStart;
  /** The share at the end of each run and trace that the errors of the report come from; 0.2 by default. */
  heldOut?: number;
  /** Steps of prompts above this many tokens are launched kernel by kernel; 512 by default. */
  launchedAbove?: number;
  /** Factor on the uncertainty of the start: 10 leaves nearly all to the data, however little there is. */
  doubt?: number;
  /** Unknown settings of the engine or the client. */
  search?: SettingsSearch;
  /** Settings for the profile; those of the first trace by default. */
  scheduler?: ProfileScheduler;
  /** Dimensions for the profile, as far as they are known. */
  dimensions?: ProfileDimensions;
}

/** Called now and then with the phase, the number of simulations so far and the remaining loss. */
export type FitProgress = (stage: 'steps' | 'requests', tries: number, loss: number) => void;

export interface FittedProfile {
  profile: LatencyProfile;
  report: FitReport;
}

/** Finds the profile that best explains measured steps, observed requests, or both, with its confidence. */
export function fitProfile(inputs: FitInputs, options: FitOptions, progress: FitProgress = () => {}): FittedProfile {
  const { steps = [], traces = [] } = inputs;
  if (steps.length + traces.length === 0) throw nothingToFit();
  const heldOut = options.heldOut ?? HELD_OUT;
  const report: FitReport = { data: [], parameters: [], notes: [] };
  let costs: { step: StepCosts; request: RequestCosts } | null = null;
  if (steps.length > 0) {
    progress('steps', 0, 0);
    costs = fitStepRuns(steps, heldOut, options.launchedAbove ?? LAUNCHED_ABOVE, report);
  }
  let scheduler = options.scheduler ?? schedulerOf(traces[0]);
  if (traces.length > 0) {
    const family = doubted(familyFrom(costs, options), options.doubt ?? 1);
    const told = (tries: number, loss: number) => progress('requests', tries, loss);
    const fitted = fitTraces(family, traces, heldOut, options.search ?? {}, report, told);
    const { maxInFlight: _, ...settings } = fitted.settings;
    costs = fitted.costs;
    scheduler = { ...scheduler, ...settings };
  }
  const { name, model, hardware, tp, dimensions } = options;
  const known = dimensions === undefined ? {} : { dimensions };
  const uncertainty = uncertaintyOf(costs!.step, report);
  return { profile: { version: 1, name, model, hardware, tp, ...costs!, scheduler, uncertainty, ...known }, report };
}

/** How far the profile may be off: what held-out data shows, and that a host is not equally fast in every run. */
function uncertaintyOf({ host }: StepCosts, { requests = [], steps }: FitReport): ProfileUncertainty {
  const errors = [
    ...requests.map(({ heldOut, fitted }) => (heldOut ?? fitted).itl),
    ...(steps?.heldOut ? [steps.heldOut.total] : []),
  ];
  const step = errors.reduce((most, error) => Math.max(most, Math.abs(error)), REPEATABLE);
  return host === undefined ? { step } : { step, host: HOST_SPREAD };
}

function familyFrom(measured: { step: StepCosts } | null, { start, tp }: FitOptions): ProfileFamily {
  if (measured !== null) return scaledFamily(measured.step, NO_REQUEST_COSTS, DOUBT_AFTER_STEPS);
  if (start === undefined) throw noStart();
  if ('profile' in start) return scaledFamily(start.profile.step, start.profile.request, DOUBT_AFTER_PROFILE);
  return physicsFamily(start.model, start.gpu, tp);
}

function doubted(family: ProfileFamily, factor: number): ProfileFamily {
  return { ...family, parameters: family.parameters.map((one) => ({ ...one, doubt: one.doubt * factor })) };
}

function schedulerOf(trace: ObservedTrace | undefined): ProfileScheduler {
  if (trace === undefined) return {};
  const { engineRules, blockSize, totalKvBlocks, maxModelLen, maxNumSeqs, maxNumBatchedTokens } = trace.engine;
  return {
    ...(engineRules === undefined ? {} : { engineRules }),
    ...{ blockSize, totalKvBlocks, maxModelLen, maxNumSeqs, maxNumBatchedTokens },
  };
}
