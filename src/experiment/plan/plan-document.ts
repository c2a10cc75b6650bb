import type { CandidatePlan } from './plan-candidate.js';
import type { PlannedKind } from './planned-fleet.js';
import type { Slo } from './slo.js';

/** A kind of replica, with what was found for it. */
export interface PlannedCandidate {
  gpu: string;
  tp: number;
  policy: string;
  /** GPUs of a replica; of a fleet of several kinds, on the mean. */
  gpusPerReplica: number;
  /** The kinds of a fleet that has several, with `gpu` the names of all and `tp` the largest; absent: all replicas are alike. */
  fleet?: PlannedKind[];
  /** Longest request, KV blocks and requests in a batch, of a replica. */
  maxModelLen: number;
  kvTokens: number;
  maxNumSeqs: number;
  /** Why it cannot be planned with: the model does not fit, for one. Then there is no plan. */
  refused: string | null;
  plan: CandidatePlan | null;
  /** GPUs of the fleet, and what they cost in an hour; null without a fleet or a price. */
  gpus: number | null;
  pricePerHour: number | null;
  /** Usual error of the model in per cent, by SLO; null where the model states none. */
  modelErrorPercent: number[] | null;
  modelError: string | null;
}

/** The traffic that is planned for. */
export interface PlannedLoad {
  source: string;
  /** Requests per second at a factor of 1. */
  baseRate: number;
  /** Null: the greatest is looked for. */
  rate: number | null;
  factor: number | null;
  /** What was done to recorded traffic, and what is known of it; a sentence each. */
  notes: string[];
}

/** A plan, as printed. */
export interface PlanDocument {
  verdict: string;
  plan: {
    model: string;
    slos: (Slo & { text: string })[];
    load: PlannedLoad;
    /** Given replicas; null: as few as possible. */
    replicas: number | null;
    seeds: number[];
    currency: string;
    /** The candidate to take: its place in the list; null when none keeps the SLOs. */
    chosen: number | null;
    notes: string[];
    command: string;
  };
  candidates: PlannedCandidate[];
}
