import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { counted } from './format-number.js';

/** What a fleet consists of, in a line: `qwen/qwen3-14b on H100, tp 1, 4 instances`. */
export function fleetText({
  fleet,
  instances,
  replica,
}: Pick<ClusterConfig, 'fleet' | 'instances' | 'replica'>): string {
  const size = counted(instances, 'instance');
  if (fleet === undefined) return `${replica.model} on ${replica.hardware}, tp ${replica.tp}, ${size}`;
  const kinds = fleet.map(({ count, replica: { hardware, latencyProfile, tp } }) => {
    const measured = latencyProfile === undefined ? '' : `, profile ${latencyProfile.name}`;
    return `${count} x ${hardware} (tp ${tp}${measured})`;
  });
  return `${replica.model} on ${kinds.join(' and ')}, ${size}`;
}
