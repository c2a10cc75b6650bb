import type { ManagedReplica } from '../../../gateway/fleet/managed-routes.js';
import { gpuName } from '../../resources/fit/gpu-name.js';
import { impliedTensorParallel, parallelSizes } from '../../resources/fit/gpu-shares.js';
import { isEmulated, numberVariable } from '../../resources/fit/planned-use.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import type { EngineVersion } from '../../resources/kinds/engine.js';
import { gpuDemand } from '../../runner/gpu-demand.js';
import type { ObservedReplica } from './plan/endpoint-state.js';

/** What a replica runs on, for its latency profile: absent where it is not known. */
export type ReplicaHardware = Pick<ManagedReplica, 'hardware' | 'tp'>;

/** Of the GPUs that its runner gave it, and of the variables of its endpoint. */
export function replicaHardware(
  { gpus, resources }: Pick<ObservedReplica, 'gpus' | 'resources'>,
  spec: Pick<EndpointSpec, 'resources' | 'variables'>,
  engine: Pick<EngineVersion, 'command' | 'parameters'> | null,
): ReplicaHardware {
  if (engine !== null && isEmulated(engine)) return emulatedHardware(spec);
  const product = gpus?.[0]?.product ?? resources?.product ?? spec.resources.product;
  const { devices } = gpuDemand(resources?.gpus ?? spec.resources.gpus);
  const tp = parallelSizes(spec.variables).tensor?.value ?? impliedTensorParallel(devices, spec.variables);
  // Ray calls a device of an unknown product so.
  const isNamed = product !== undefined && product !== 'GPU';
  return { ...(isNamed ? { hardware: gpuName(product) } : {}), ...(devices === 0 ? {} : { tp }) };
}

/** An engine of this program has the GPU that its variables name. */
function emulatedHardware({ variables }: Pick<EndpointSpec, 'variables'>): ReplicaHardware {
  const { hardware } = variables;
  const tp = numberVariable(variables, ['tp'])?.value;
  return {
    ...(typeof hardware === 'string' ? { hardware: gpuName(hardware) } : {}),
    ...(tp === undefined ? {} : { tp }),
  };
}
