import { unknownMoeCommBackend } from '../errors.js';

/** How tokens travel to their experts when a mixture-of-experts model runs on several data-parallel ranks. */
export interface MoeCommBackend {
  name: string;
  /** Every token is sent to each of its experts, instead of all tokens being gathered everywhere once. */
  allToAll: boolean;
}

export const DEFAULT_MOE_COMM_BACKEND = 'allgather_reducescatter';

export const MOE_COMM_BACKENDS: readonly MoeCommBackend[] = [
  { name: 'allgather_reducescatter', allToAll: false },
  { name: 'naive', allToAll: false },
  { name: 'pplx', allToAll: true },
  { name: 'deepep_high_throughput', allToAll: true },
  { name: 'deepep_low_latency', allToAll: true },
  { name: 'mori', allToAll: true },
  { name: 'flashinfer_all2allv', allToAll: true },
];

export function moeCommBackend(name: string): MoeCommBackend {
  const found = MOE_COMM_BACKENDS.find((backend) => backend.name === name);
  if (found !== undefined) return found;
  throw unknownMoeCommBackend(
    name,
    MOE_COMM_BACKENDS.map((backend) => backend.name),
  );
}
