import type { ComparisonDocument } from '../../experiment/comparison/comparison.js';
import type { ThreadOptions } from '../jobs/in-thread.js';
import type { LabInput, LabProfile } from './lab-question.js';

/** An experiment as a command line of `compare`. Plain data: a worker thread takes it. */
export interface LabTask {
  /** What follows `twinyard compare`. Names the input by its name alone. */
  readonly argv: readonly string[];
  readonly input: LabInput | null;
  readonly profile: LabProfile | null;
}

/** Runs an experiment, by the parts of the command line. */
export type LabRunner = (task: LabTask, options: ThreadOptions) => Promise<LabResult>;

export interface LabResult {
  /** The finding in one sentence. */
  readonly verdict: string;
  /** Prints `document`, byte for byte, in a folder with the input. */
  readonly command: string;
  readonly input: { readonly name: string; readonly requests: number; readonly sha256: string } | null;
  /** What the command prints on stderr. */
  readonly warnings: readonly string[];
  readonly document: ComparisonDocument;
  /** Per cent of requests of each entry of a latency curve. */
  readonly quantiles: readonly number[];
  /** In the order of the document's variants. */
  readonly curves: readonly LabCurves[];
}

export interface LabCurves {
  readonly name: string;
  /** Milliseconds at `quantiles`, the mean over seeds. */
  readonly ttft_ms: readonly number[];
  readonly e2e_ms: readonly number[];
  /** Mean gap between tokens of each request. */
  readonly itl_ms: readonly number[];
  /** Of the first seed: a mean over seeds would smooth the peaks away. */
  readonly step_s: number;
  readonly in_system: readonly number[];
  readonly tokens_per_s: readonly number[];
  readonly replicas: { readonly kind: 'instances' | 'range'; readonly rows: readonly (readonly number[])[] };
  /** Ends of the 95 % confidence interval of a mean over seeds, by measure; null for one seed. */
  readonly intervals: Readonly<Record<string, readonly [low: number, high: number] | null>>;
}
