import { type LatencyModel, withQueueing } from './latency/contract.js';
import { profileLatency } from './latency/profile-latency.js';
import { latencyModel } from './latency/registry.js';
import { replicaFiles } from './replica-files.js';
import type { ReplicaModelConfig } from './replica-model-config.js';

/** The step times of a replica by its profile, or by its latency model from the data sheets of model and GPU. */
export function replicaLatency(replica: ReplicaModelConfig): LatencyModel {
  return withQueueing(latencyOf(replica), replica);
}

function latencyOf(replica: ReplicaModelConfig): LatencyModel {
  const { tp, dp, moeCommBackend, alphaCoeffs, betaCoeffs, latencyProfile, latencyFamily } = replica;
  if (latencyProfile !== undefined) return profileLatency(latencyProfile);
  const { model, gpu } = replicaFiles(replica);
  return latencyModel(replica.latencyModel).create(
    {
      model,
      gpu,
      parallelism: { tp, dp, moeCommBackend },
      ...(alphaCoeffs === null ? {} : { alpha: alphaCoeffs }),
      ...(betaCoeffs === null ? {} : { beta: betaCoeffs }),
      ...(latencyFamily === undefined ? {} : { family: latencyFamily }),
    },
    // Printed once, when the configuration was resolved.
    () => {},
  );
}
