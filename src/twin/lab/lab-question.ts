import type { RecordedPart } from '../jobs/copy-recorded.js';

/** Bounds of one experiment: it ends within minutes, and its memory is bounded. */
export const LAB_LIMITS = {
  policies: 6,
  seeds: 10,
  replicas: 256,
  requests: 100_000,
  /** Prompt tokens of all requests of a run: their blocks are held in memory. */
  promptTokens: 400_000_000,
  uploadBytes: 8 * 2 ** 20,
  /** Files that are kept for a workspace. */
  uploads: 8,
  /** Of the printed result: a server keeps those of the last experiments. */
  resultBytes: 4 * 2 ** 20,
  /** Experiments of a workspace that wait or run. */
  open: 4,
  minutes: 10,
} as const;

/** Of a generated workload, unless the question says how many. */
export const LAB_REQUESTS = 1000;
export const LAB_SEEDS = 3;

/** What an experiment compares, as it is sent: enough to run it again. */
export interface LabQuestion {
  readonly traffic: LabTraffic;
  readonly fleet: LabFleet;
  /** Names of routing policies; `weighted:queue-depth:1+kv-utilization:2` has scorers of its own. */
  readonly policies: readonly string[];
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
  readonly requests?: number | undefined;
}

export interface LabFleet {
  readonly model: string;
  readonly hardware?: string | undefined;
  readonly tp?: number | undefined;
  readonly replicas: number;
}

/** The file that an experiment reads: named in its command, found at a path of the server. */
export type LabInput =
  | { readonly name: string; readonly format: 'trace' | 'workload'; readonly path: string }
  | { readonly name: string; readonly format: 'trace'; readonly recording: RecordedPart };
