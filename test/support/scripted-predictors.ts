import type { Endpoint } from '../../src/gateway/fleet/endpoint/endpoint.js';
import type { LatencyPredictor, PredictorSource } from '../../src/policy/latency-predictor.js';
import { fakeLatency } from '../../src/replica/fake-replica.fixture.js';
import { fakeProfile } from '../../src/replica/latency/fake-profile.fixture.js';
import { modelPredictor } from '../../src/replica/latency/predict/engine-predictor.js';
import type { ClusterConfig } from '../../src/simulator/cluster-config.js';

/** Replicas of different speed: the letters of an id make it slower. */
export function scriptedPredictors({ replica }: ClusterConfig): PredictorSource {
  const known = new Map<string, LatencyPredictor>();
  return (id) => {
    const speed = 1 + ([...id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 3) / 2;
    const predictor = known.get(id) ?? modelPredictor(fakeLatency(), replica, speed);
    known.set(id, predictor);
    return predictor;
  };
}

/** Lets an endpoint know how fast replicas are that it has or is about to get. */
export function shareSpeeds({ profiles }: Endpoint, ids: readonly string[], predictors: PredictorSource): void {
  for (const id of ids) if (profiles.profileOf(id) === null) profiles.set(id, fakeProfile(), predictors(id)!);
}
