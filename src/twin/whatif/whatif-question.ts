import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import type { ClusterConfig, FlowControlConfig, PolicyChoice } from '../../simulator/cluster-config.js';

/** What would have happened to recorded traffic with another policy or fleet. Plain data: a worker thread takes it. */
export interface WhatIfQuestion {
  /** The file that a gateway recorded, with its rotated ones. */
  recording: string;
  /** What messages and results call it; absent: its path. */
  recordingName?: string;
  /** Only requests of this endpoint, and for this model; absent: all. */
  endpoint?: string;
  model?: string;
  /** Only requests that arrived in this time before the last one; absent: all. */
  lastUs?: number;
  /**
   * The engines that served the traffic. Step times are those of its `latencyProfile`; without one they are fitted to the
   * recording, starting at its model and GPU.
   */
  replica: ReplicaModelConfig;
  /** Settings of the gateway that decided. */
  gateway: GatewayWorld;
  /** At least one. */
  alternatives: readonly AskedFleet[];
  /** How many runs estimate chance; 11 by default. */
  runs?: number;
}

/** What a live gateway's policies see: simulated routers see the same. */
export interface GatewayWorld {
  /** Time between two reads of a replica's metrics. */
  signalsUs: number;
  /** Tokens per block of the gateway's prompt index. */
  blockSize: number;
}

/** A fleet to compare with the recorded one. */
export interface AskedFleet {
  routing: PolicyChoice;
  /** Absent: as many as served the recording. */
  replicas?: number;
  /** The recorded engines on another GPU; absent: on their own. */
  gpu?: string;
  admission?: PolicyChoice;
  flowControl?: FlowControlConfig | null;
  sloPriorities?: ClusterConfig['sloPriorities'];
  tenantBudgets?: ClusterConfig['tenantBudgets'];
}

export type WhatIfStage = 'reading' | 'fitting' | 'checking' | 'simulating';

export interface WhatIfProgress {
  stage: WhatIfStage;
  /** Runs of this stage that are done, and all of them; 0 where the number is not known. */
  done: number;
  total: number;
}
