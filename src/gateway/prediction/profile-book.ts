import type { LatencyProfile } from '../../replica/latency/profile.js';
import type { PredictionMetric } from './error-window.js';

/** How far a profile was off on requests that it was not fitted to: shares of the latencies. */
export type ProfileErrors = Readonly<Record<PredictionMetric, number>> & { readonly requests: number };

/** Why predictions have become worse. */
export const DRIFT_REASONS = ['engine-version', 'gpu', 'model-length', 'host', 'unknown'] as const;
export type DriftReason = (typeof DRIFT_REASONS)[number];

export interface ProfileDrift {
  readonly reason: DriftReason;
  /** In words. */
  readonly message: string;
  readonly sinceUs: number;
}

/** The latency profile of one endpoint and engine, as status and API show it. */
export interface EngineProfileState {
  /** The full name of the endpoint. */
  readonly endpoint: string;
  /** The engine, with the GPU where its replicas name one: `vllm`, `vllm@H100`. */
  readonly engine: string;
  /** Null while there is none. */
  readonly profile: LatencyProfile | null;
  /** How it was found: fitted to requests of this gateway, or given by an operator. */
  readonly source: 'fitted' | 'given' | null;
  /** Whether latencies are predicted with it. */
  readonly isUsed: boolean;
  readonly isPinned: boolean;
  /** When it was fitted or given, in milliseconds since 1970, and how long ago. */
  readonly madeMs: number | null;
  readonly ageS: number | null;
  readonly score: ProfileErrors | null;
  readonly drift: ProfileDrift | null;
  /** What the fit assumes, a sentence each. */
  readonly assumes: readonly string[];
  /** Why there is no profile, or why it is not used; empty where it is. */
  readonly problem: string;
}

export const FIT_RESULTS = ['kept', 'discarded', 'failed'] as const;
export type FitResult = (typeof FIT_RESULTS)[number];

/** What fits and drifts have added up to. */
export interface ProfileCounts {
  readonly endpoint: string;
  readonly engine: string;
  readonly fits: Readonly<Record<FitResult, number>>;
  readonly drifts: Readonly<Record<DriftReason, number>>;
}

/** A change of a profile by an operator. */
export interface PinChange {
  readonly isPinned: boolean;
  /** To be used from now on; without it, the present one. */
  readonly profile?: LatencyProfile;
}

/** The profiles of a gateway's engines: kept by the layer above, shown by its API and metrics. */
export interface ProfileBook {
  /** Of one endpoint, or of all. */
  states(endpoint?: string): EngineProfileState[];
  counts(): ProfileCounts[];
  /** Processor time that fits have taken. */
  readonly fitSeconds: number;
  /** Throws an InputError when the engine is not known, or has no profile to pin. */
  pin(endpoint: string, engine: string, change: PinChange): EngineProfileState;
}
