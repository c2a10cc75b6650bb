import { type EngineFacts, UNKNOWN_FACTS } from '../../gateway/prediction/engine-facts.js';
import type { EngineTraffic } from '../../gateway/prediction/engine-traffic.js';
import type {
  DriftReason,
  EngineProfileState,
  FitResult,
  PinChange,
  ProfileCounts,
  ProfileDrift,
  ProfileErrors,
} from '../../gateway/prediction/profile-book.js';
import type { LatencyProfile } from '../../replica/latency/profile.js';
import type { FitOutcome } from './fit/fit-engine.js';
import type { KeptProfile } from './kept-profiles.js';

/** A profile that is further off is not used: nothing is predicted rather than something wrong. */
const MOST_ITL_ERROR = 0.25;
const MOST_E2E_ERROR = 0.35;
/** Predictions before a profile that was given is called wrong. */
const LEAST_JUDGED = 50;

/** The latency profile of one endpoint and engine, and which of two profiles is kept. */
export class EngineProfile implements ProfileCounts {
  profile: LatencyProfile | null = null;
  source: 'fitted' | 'given' | null = null;
  isPinned = false;
  /** Milliseconds since 1970. */
  madeMs = 0;
  score: ProfileErrors | null = null;
  drift: ProfileDrift | null = null;
  /** The engine that the profile was fitted to. */
  facts: EngineFacts = UNKNOWN_FACTS;
  assumes: readonly string[] = [];
  /** That its replicas seem to be of two kinds; null when they do not. */
  kinds: string | null = null;
  problem = 'no requests yet';
  readonly fits: Record<FitResult, number> = { kept: 0, discarded: 0, failed: 0 };
  readonly drifts: Record<DriftReason, number> = {
    'engine-version': 0,
    gpu: 0,
    'model-length': 0,
    host: 0,
    unknown: 0,
  };

  constructor(
    readonly endpoint: string,
    readonly engine: string,
  ) {}

  /** The profile that predictions are made with; null where there is none, or none that is good enough. */
  get used(): LatencyProfile | null {
    return this.profile !== null && (this.isPinned || this.source === 'given' || isGood(this.score))
      ? this.profile
      : null;
  }

  /** Continues with the profile of an earlier run. */
  restore({ assumes, facts, isPinned, madeMs, profile, score, source }: KeptProfile): void {
    Object.assign(this, { assumes, facts, isPinned, madeMs, profile, score, source, problem: '' });
  }

  /** Whether a fitted profile is better than the present one, on the requests that both were scored on. */
  isBetter({ currentScore, score }: FitOutcome): boolean {
    return currentScore === null || score.mean < currentScore.mean;
  }

  /** Keeps the better of the present profile and a fitted one. */
  take(outcome: FitOutcome, facts: EngineFacts, assumes: readonly string[], nowMs: number): void {
    const { currentScore, profile, score } = outcome;
    if (this.isBetter(outcome)) {
      this.fits.kept++;
      Object.assign(this, { profile, facts, assumes, source: 'fitted', madeMs: nowMs, drift: null });
      this.score = errorsOf(score);
    } else {
      this.fits.discarded++;
      this.score = errorsOf(currentScore!);
    }
    this.problem = this.used === null ? tooFarOff(this.score) : '';
  }

  /** @param facts the engine now */
  pin({ isPinned, profile }: PinChange, facts: EngineFacts, nowMs: number): void {
    this.isPinned = isPinned;
    if (profile === undefined) {
      if (this.profile !== null) this.problem = this.used === null ? tooFarOff(this.score!) : '';
      return;
    }
    Object.assign(this, {
      profile,
      facts,
      source: 'given',
      madeMs: nowMs,
      score: null,
      drift: null,
      assumes: [],
      problem: '',
    });
  }

  /** Says of a profile that an operator chose how far it is off: it is used in any case. */
  judge(traffic: EngineTraffic): void {
    const [itl, e2e] = [traffic.errorsOf('itl').stats(), traffic.errorsOf('e2e').stats()];
    if (itl === null || e2e === null || e2e.count < LEAST_JUDGED) return;
    const isOff = itl.p50 > MOST_ITL_ERROR || e2e.p50 > MOST_E2E_ERROR;
    const off = `ITL ${percent(itl.p50)} and E2E ${percent(e2e.p50)} off on the median of the latest requests`;
    this.problem = isOff ? `the profile is ${off}: pin one that fits, or unpin it` : '';
  }

  state(nowMs: number): EngineProfileState {
    const { drift, endpoint, engine, isPinned, kinds, madeMs, problem, profile, score, source } = this;
    const assumes = kinds === null ? this.assumes : [...this.assumes, kinds];
    return {
      ...{ endpoint, engine, profile, source, isPinned, score, drift, assumes, problem },
      isUsed: this.used !== null,
      madeMs: profile === null ? null : madeMs,
      ageS: profile === null ? null : Math.max(0, (nowMs - madeMs) / 1000),
    };
  }
}

function isGood(score: ProfileErrors | null): boolean {
  return score !== null && score.itl <= MOST_ITL_ERROR && score.e2e <= MOST_E2E_ERROR;
}

function errorsOf({ e2e, itl, requests, ttft }: ProfileErrors): ProfileErrors {
  return { ttft, itl, e2e, requests };
}

function tooFarOff({ e2e, itl }: ProfileErrors): string {
  const off = `ITL ${percent(itl)} and E2E ${percent(e2e)} off on newer requests`;
  return `nothing is predicted: the best profile is ${off}; replicas of different GPUs need their 'hardware' in the configuration`;
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
