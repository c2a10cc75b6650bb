import type { LatencyPredictor, PredictorSource } from '../../policy/latency-predictor.js';
import type { LatencyModel } from '../../replica/latency/contract.js';
import { modelPredictor } from '../../replica/latency/predict/engine-predictor.js';
import type { ClusterConfig } from '../cluster-config.js';

/** The predictors of a cluster's replicas: each with the speed that its replica has. */
export function replicaPredictors({ replica, slowFactors }: ClusterConfig, latency: LatencyModel): PredictorSource {
  const known = new Map<string, LatencyPredictor>();
  return (id) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const slot = Number(id.slice(id.lastIndexOf('_') + 1));
    const predictor = modelPredictor(latency, replica, slowFactors?.[slot] ?? 1);
    known.set(id, predictor);
    return predictor;
  };
}
