/** Results of jobs, as far as the page shows them. */

export interface Choice {
  readonly policy: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface Recording {
  readonly requests: number;
  readonly responses: number;
  readonly durationS: number;
  readonly replicas: readonly string[];
  readonly sessions: 'closed-loop' | 'fixed';
}

export interface BaselineMetric {
  readonly metric: string;
  readonly measured: number;
  readonly simulated: number;
  readonly error: number;
}

/** The recording as simulated, against what was measured. */
export interface Baseline {
  readonly profile: { readonly name: string; readonly source: 'given' | 'fitted'; readonly notes: readonly string[] };
  readonly stepError: number;
  readonly metrics: readonly BaselineMetric[];
  readonly refused: string | null;
}

export interface Prediction {
  readonly metric: string;
  readonly was: number;
  readonly predicted: number;
  readonly low: number;
  readonly high: number;
  readonly change: number;
  readonly changeLow: number;
  readonly changeHigh: number;
  readonly claim: 'better' | 'worse' | 'none';
}

export interface Alternative {
  readonly name: string;
  readonly routing: Choice;
  readonly replicas: number;
  readonly hardware: string;
  readonly refused: string | null;
  readonly verdict: string;
  readonly metrics: readonly Prediction[];
  readonly rejected: number;
  readonly perReplica: readonly number[];
  readonly runs: number;
}

export interface WhatIf {
  readonly verdict: string;
  readonly recording: Recording;
  readonly baseline: Baseline;
  readonly alternatives: readonly Alternative[];
  readonly notes: readonly string[];
}

export interface SwitchCost {
  readonly windowS: number;
  readonly windows: readonly { readonly present: number; readonly switched: number; readonly warm: number }[];
  readonly warmAfterS: number | null;
  readonly extraTtftMs: number;
  readonly worst: number;
}

export interface Advice extends WhatIf {
  readonly metric: string;
  readonly present: Choice;
  readonly best: {
    readonly policy: string;
    readonly routing: Choice;
    readonly was: number;
    readonly predicted: number;
    readonly change: number;
    readonly changeLow: number;
    readonly changeHigh: number;
  } | null;
  readonly cost: SwitchCost | null;
}

export interface Measure {
  readonly of: string;
  readonly at: number | 'mean';
}

export interface PlanPoint {
  readonly replicas: number;
  readonly rate: number;
  readonly kept: boolean;
  readonly why: 'slo' | 'backlog' | 'lost' | null;
  readonly latencies: readonly (Measure & {
    readonly ms: number | null;
    readonly low: number | null;
    readonly high: number | null;
  })[];
}

export interface FleetPlan {
  readonly verdict: string;
  readonly recording: Recording | null;
  readonly baseline: Baseline | null;
  readonly present: number | null;
  readonly plan: {
    readonly slos: readonly (Measure & { readonly limitMs: number; readonly text: string })[];
    readonly load: { readonly source: string; readonly baseRate: number; readonly rate: number };
    readonly chosen: number | null;
  };
  readonly candidates: readonly {
    readonly gpu: string;
    readonly tp: number;
    readonly policy: string;
    readonly gpus: number | null;
    readonly plan: {
      readonly replicas: number | null;
      readonly at: PlanPoint | null;
      readonly oneLess: PlanPoint | null;
      readonly oneMore: PlanPoint | null;
      readonly replicasRange: readonly [number, number | null] | null;
      readonly greatest: number | null;
      readonly curve: readonly PlanPoint[];
    } | null;
  }[];
  readonly notes: readonly string[];
}
