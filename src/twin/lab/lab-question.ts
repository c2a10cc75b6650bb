import type { FlowControlKeys } from '../../policy/bundle/flow-control-schema.js';
import type { RecordedPart } from '../jobs/copy-recorded.js';

/** Bounds of one experiment: it ends within minutes, and its memory is bounded. */
export const LAB_LIMITS = {
  policies: 6,
  /** Loads of a curve. */
  rates: 8,
  /** Kinds of replicas in a fleet. */
  kinds: 8,
  seeds: 10,
  replicas: 256,
  requests: 100_000,
  /** Prompt tokens of all requests of a run: their blocks are held in memory. */
  promptTokens: 400_000_000,
  uploadBytes: 8 * 2 ** 20,
  /** Files that are kept for a workspace, and for all of them. */
  uploads: 8,
  allUploads: 32,
  /** Of the result with its curves: a server keeps those of the last experiments. */
  resultBytes: 2 * 2 ** 20,
  /** Results of a workspace that are saved. */
  saved: 200,
  /** Experiments of a workspace that wait or run, and of one caller that wait. */
  open: 4,
  waitingOfOne: 2,
  minutes: 10,
} as const;

/** Of a generated workload, unless the question says how many. */
export const LAB_REQUESTS = 1000;
export const LAB_SEEDS = 3;
/** Of a fleet of one kind. */
export const LAB_REPLICAS = 4;

/** What an experiment compares, as it is sent: enough to run it again. */
export interface LabQuestion {
  readonly traffic: LabTraffic;
  readonly fleet: LabFleet;
  /** Routing policies by name; `chwbl:load_factor=1.5` has options, `weighted:queue-depth:1+kv-utilization:2` scorers. */
  readonly policies: readonly string[];
  readonly admission?: LabAdmission | undefined;
  /** The queue before routing. */
  readonly flow_control?: FlowControlKeys | undefined;
  readonly seeds?: number | undefined;
  readonly slo_ttft_ms?: number | undefined;
  readonly signal_age_ms?: number | undefined;
}

/** One of `workload`, `upload` and `recording`. */
export interface LabTraffic {
  readonly workload?: string | undefined;
  readonly upload?: { readonly id: string; readonly format: 'trace' | 'workload' } | undefined;
  readonly recording?: { readonly endpoint: string; readonly from?: string; readonly to?: string } | undefined;
  /** Of generated requests. */
  readonly rate?: number | undefined;
  /** Several: every policy is simulated at each. */
  readonly rates?: readonly number[] | undefined;
  readonly requests?: number | undefined;
}

export interface LabFleet {
  /** That of the profile where it is left out. */
  readonly model?: string | undefined;
  readonly hardware?: string | undefined;
  readonly tp?: number | undefined;
  readonly replicas?: number | undefined;
  /** Replicas that are not alike, instead of `hardware`, `tp` and `replicas`. */
  readonly kinds?: readonly LabReplicaKind[] | undefined;
  readonly latency_model?: string | undefined;
  /** Step times that the gateway fitted to an endpoint; its only engine where none is named. */
  readonly profile?: { readonly endpoint: string; readonly engine?: string | undefined } | undefined;
}

export interface LabReplicaKind {
  readonly hardware: string;
  readonly tp?: number | undefined;
  readonly replicas: number;
}

export interface LabAdmission {
  readonly policy: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** The file that an experiment reads: named in its command, found at a path of the server. */
export type LabInput =
  | { readonly name: string; readonly format: 'trace' | 'workload'; readonly path: string }
  | { readonly name: string; readonly format: 'trace'; readonly recording: RecordedPart };

/** A latency profile: named in the command, written into the folder of the experiment. */
export interface LabProfile {
  readonly name: string;
  readonly document: object;
}
