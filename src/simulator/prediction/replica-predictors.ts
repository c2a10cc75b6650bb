import type { LatencyPredictor, PredictorSource } from '../../policy/latency-predictor.js';
import { modelPredictor } from '../../replica/latency/predict/engine-predictor.js';
import type { FleetReplica } from '../fleet/fleet-replicas.js';
import type { TrueTimes } from './true-times.js';

/**
 * The predictors of a cluster's replicas: each with the speed that its replica has.
 * @param truth what to predict with instead, if there is one by the time it is asked
 */
export function replicaPredictors(
  fleet: readonly FleetReplica[],
  truth: () => TrueTimes | null = () => null,
): PredictorSource {
  const known = new Map<string, LatencyPredictor>();
  return (id) => {
    const slot = Number(/\d+$/.exec(id)![0]);
    const found = truth()?.predictorOf(slot) ?? known.get(id);
    if (found !== undefined) return found;
    const { config, factor, latency } = fleet[slot]!;
    const predictor = modelPredictor(latency, config, factor);
    known.set(id, predictor);
    return predictor;
  };
}
