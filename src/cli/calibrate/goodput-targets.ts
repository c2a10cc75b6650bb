import type { TraceGoodputTarget, TraceHeader } from '../../workload/trace.js';
import type { FlagValues } from '../flags/flag.js';
import type { ComparingFlags } from './calibrate-flags.js';

const DIMENSIONS = [
  ['ttftUs', 'slo-ttft'],
  ['itlUs', 'slo-itl'],
  ['e2eUs', 'slo-e2e'],
] as const;

/** What counts as good, by class: what the flags say and, where they say nothing, the trace's header. */
export function goodputTargets(
  { values }: FlagValues<ComparingFlags>,
  header: TraceHeader,
): Record<string, TraceGoodputTarget> {
  const targets: Record<string, TraceGoodputTarget> = { ...header.goodputTargets };
  for (const [dimension, flag] of DIMENSIONS) {
    for (const [sloClass, us] of Object.entries(values[flag])) {
      targets[sloClass] = { ...targets[sloClass], [dimension]: us };
    }
  }
  return targets;
}
