import type { JsonSchema } from '../../parts/schema-form/json-schema';

/** The result of an experiment, as far as the page shows it. */

export interface Metric {
  readonly key: string;
  readonly title: string;
  readonly unit: 'ms' | 'share' | 'tokens/s' | 'requests/s' | '';
  readonly better: 'less' | 'more';
}

export interface MetricDifference {
  readonly variant: string;
  readonly against: string;
  readonly metric: string;
  readonly difference: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly reference: number;
  readonly relative: number | null;
  readonly verdict: 'better' | 'worse' | 'likely-better' | 'likely-worse' | 'noise' | 'same' | 'once';
}

export interface ReplicaFacts {
  readonly model: string;
  readonly hardware: string;
  readonly tp: number;
}

export interface LabVariant {
  readonly name: string;
  readonly against: string | null;
  /** The policy, where each is simulated at several rates, and the rate. */
  readonly series: string;
  readonly x: number | null;
  readonly metrics: Readonly<Record<string, { readonly mean: number; readonly by_seed: readonly number[] } | null>>;
  readonly saturation: { readonly state: string; readonly verdict: string };
  readonly config: {
    readonly instances: number;
    readonly routing: { readonly policy: string; readonly options: Readonly<Record<string, unknown>> };
    readonly replica: ReplicaFacts;
    /** Of a fleet of several kinds, in the order of the replicas. */
    readonly fleet?: readonly { readonly count: number; readonly replica: ReplicaFacts }[];
  };
}

export interface LabCurves {
  readonly name: string;
  readonly ttft_ms: readonly number[];
  readonly e2e_ms: readonly number[];
  readonly itl_ms: readonly number[];
  readonly step_s: number;
  readonly in_system: readonly number[];
  readonly tokens_per_s: readonly number[];
  readonly replicas: { readonly kind: 'instances' | 'range'; readonly rows: readonly (readonly number[])[] };
  readonly intervals: Readonly<Record<string, readonly [number, number] | null>>;
}

export interface LabResult {
  readonly verdict: string;
  readonly command: string;
  readonly input: { readonly name: string; readonly requests: number; readonly sha256: string } | null;
  readonly warnings: readonly string[];
  readonly document: {
    readonly comparison: {
      readonly title: string;
      readonly verdict: string;
      readonly seeds: readonly number[];
      readonly runs: number;
      readonly intervals: string;
      readonly step_times: readonly string[];
      readonly axis: { readonly title: string; readonly unit: string } | null;
      readonly slo: { readonly metric: string; readonly limit: number } | null;
      readonly headline: readonly Metric[];
      readonly notes: readonly string[];
    };
    readonly variants: readonly LabVariant[];
    readonly differences: readonly MetricDifference[];
    readonly findings: readonly string[];
  };
  readonly quantiles: readonly number[];
  readonly curves: readonly LabCurves[];
}

export interface LabChoices {
  readonly workloads: readonly string[];
  readonly models: readonly { readonly name: string; readonly hardware: string | null; readonly tp: number | null }[];
  readonly hardware: readonly string[];
  readonly latency_models: readonly string[];
  readonly policies: readonly LabPolicy[];
  readonly admission: readonly LabPolicy[];
  readonly flow_control: JsonSchema;
  readonly limits: {
    readonly policies: number;
    readonly rates: number;
    readonly kinds: number;
    readonly seeds: number;
    readonly replicas: number;
    readonly requests: number;
    readonly upload_bytes: number;
  };
}

/** A result under a name; `result` where one is read. */
export interface SavedRun {
  readonly id: string;
  readonly name: string;
  readonly workspace: string;
  readonly saved_by: string;
  readonly saved_at: string;
  readonly ran_at: string;
  readonly verdict: string;
  readonly asked: Readonly<Record<string, unknown>>;
  readonly commands: readonly string[];
  readonly result?: LabResult;
}

export interface LabPolicy {
  readonly name: string;
  readonly summary: string;
  readonly options: JsonSchema;
}
