import { unknownLatencyModel } from '../errors.js';
import type { LatencyModelKind } from './contract.js';
import { physics } from './physics/physics.js';
import { profile } from './profile.js';
import { roofline } from './roofline.js';
import { trainedPhysics } from './trained/trained-physics.js';

/** Every latency model there is; a new one is a file and a line here. */
export const LATENCY_MODELS: readonly LatencyModelKind[] = [physics, trainedPhysics, roofline, profile];

export function latencyModel(name: string): LatencyModelKind {
  const found = LATENCY_MODELS.find((kind) => kind.name === name);
  if (found !== undefined) return found;
  throw unknownLatencyModel(
    name,
    LATENCY_MODELS.map((kind) => kind.name),
  );
}
