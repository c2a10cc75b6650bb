import type { Slo } from '../../experiment/plan/slo.js';
import { presetSpec, WORKLOADS } from '../../workload/generate/presets.js';

/** The least fleet that keeps SLOs. Plain data: a worker thread takes it. */
export interface PlanRequest {
  readonly slos: readonly Slo[];
  readonly traffic: PlannedTraffic;
  readonly mostReplicas: number;
  /** Of a run, at least; absent: as many as the percentiles need. */
  readonly requests?: number;
}

/** What was recorded, at its own rate times a factor; or a preset at a rate. */
export type PlannedTraffic =
  | { readonly kind: 'recorded'; readonly times: number }
  | { readonly kind: 'preset'; readonly name: string; readonly rate: number };

/** Presets that can be offered at any rate. */
export const PLAN_PRESETS: readonly string[] = WORKLOADS.filter((name) => (presetSpec(name).aggregate_rate ?? 0) > 0);
