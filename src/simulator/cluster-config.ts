import type { PolicyChoice } from '../policy/bundle/admission-choice.js';
import type { FlowControlSettings } from '../policy/queueing/flow-control-settings.js';
import type { ReplicaModelConfig } from '../replica/replica-model-config.js';

/** A policy by name with the given options; the policy's schema fills in defaults. */
export type { PolicyChoice };
/** Spec 6.3: the queue between admission and routing. */
export type FlowControlConfig = FlowControlSettings;

/** In place of an SLO class: the target of every class, unless the class has its own. */
export const EVERY_CLASS = '*';

/** Thresholds of one SLO class in microseconds; an absent dimension is not checked. */
export interface GoodputTarget {
  ttftUs?: number;
  itlUs?: number;
  e2eUs?: number;
}

/** Detectors of saturation besides the one that every run has. */
export interface DetectorSettings {
  /** Of `DETECTOR_NAMES`. */
  names: string[];
  /** Seconds before the last arrival in which detectors vote. */
  windowS: number;
  /** `threshold`: the mean time of whole requests that is too long. */
  thresholdMs: number;
  /** `backlog-drift`: seconds between two counts; null: 60, or a twentieth of the run. */
  bucketS: number | null;
  /** `backlog-drift`: growth above this many times what chance explains is an overload. */
  slopeFactor: number;
}

/** Replicas of one kind: another GPU, tensor parallelism or engine than those of other groups. All have one block size. */
export interface FleetGroup {
  count: number;
  replica: ReplicaModelConfig;
}

/** Everything a run depends on besides its workload. Plain data: it is printed as `config` and can be run again. */
export interface ClusterConfig {
  instances: number;
  seed: number;
  /** Requests known up front arrive up to so much later, drawn by the seed; absent: when the workload says. */
  arrivalJitterUs?: number;
  /** null: until every request has left. */
  horizonUs: number | null;
  /** Requests that the client has in flight at most; absent: no limit. */
  maxInFlight?: number;
  replica: ReplicaModelConfig;
  /** Groups of unlike replicas, as many as `instances` together; `replica` is that of the first group. Absent: all are alike. */
  fleet?: FleetGroup[];
  /** By replica: how many times as long its steps take; absent, or beyond the list: once. */
  slowFactors?: number[];

  /** Gateways that route side by side, each with its own books; absent: one. */
  gateways?: number;
  admission: PolicyChoice;
  /** Tenant to its share of the cluster's seats (replicas x max-num-seqs), 0..1. */
  tenantBudgets: Record<string, number>;
  /** SLO classes whose priority differs from the built-in ones. */
  sloPriorities: Record<string, number>;
  admissionLatencyUs: number;
  flowControl: FlowControlConfig | null;

  routing: PolicyChoice;
  /** What ids of replicas begin with, for policies that hash them; absent: `instance_`. */
  replicaPrefix?: string;
  /** Another policy decides from a time on, with the caches and the books as they are then; absent: one policy. */
  routingSwitch?: { atUs: number; routing: PolicyChoice };
  routingLatencyUs: number;
  snapshotRefreshUs: number;
  /**
   * Signals are read at this time and every `snapshotRefreshUs` after it, as by the clock of a live gateway; absent: at the first
   * decision for which they are that old.
   */
  signalPhaseUs?: number;
  cacheSignalDelayUs: number;

  /** 'none' or 'decisions'. */
  traceLevel: string;
  counterfactualK: number;
  summarizeTrace: boolean;
  fitnessWeights: Record<string, number>;
  /** SLO class to thresholds; the empty class is called 'default'. */
  goodputTargets: Record<string, GoodputTarget>;
  /** Absent: none. */
  detectors?: DetectorSettings;
}
