import type { FlowControlConfig } from '../../simulator/cluster-config.js';
import type { PolicyBundle } from '../../simulator/policy-bundle.js';
import type { Diagnostics } from '../diagnostics.js';
import type { FlagValues } from '../flags/flag.js';
import type { FlowControlFlags } from '../flags/flow-control-flags.js';

/** The gateway queue, or null without one. Targets by class come from the flag, else from the bundle. */
export function resolveFlowControl(
  flags: FlagValues<FlowControlFlags>,
  bundle: PolicyBundle | null,
  diagnostics: Diagnostics,
): FlowControlConfig | null {
  const { values } = flags;
  const bundleTargets = bundle?.admission.slo_targets;
  if (bundleTargets !== undefined && values['dispatch-order'] !== 'slo-deadline') {
    const place = bundle!.place('admission.slo_targets');
    diagnostics.warn(`${place}: has no effect without --flow-control --dispatch-order slo-deadline`);
  }
  if (!values['flow-control']) return null;
  warnOfIdleFlags(flags, diagnostics);
  return {
    saturationDetector: values['saturation-detector'],
    dispatchOrder: values['dispatch-order'],
    dispatchTickUs: values['dispatch-tick-interval'],
    queueDepthThreshold: values['queue-depth-threshold'],
    kvCacheUtilThreshold: values['kv-cache-util-threshold'],
    maxConcurrency: values['max-concurrency'],
    usageLimitThreshold: values['usage-limit-threshold'],
    fairnessPolicy: values['fairness-policy'],
    requestTtlUs: values['request-ttl'],
    maxQueueDepth: values['max-gateway-queue-depth'],
    perBandCapacity: values['per-band-capacity'],
    queueShedding: values['queue-shedding'],
    sloTargetsUs: flags.given('slo-targets') ? values['slo-targets'] : { ...bundleTargets },
  };
}

/** Settings that are harmless but idle with the others as they are. */
function warnOfIdleFlags(flags: FlagValues<FlowControlFlags>, { warn }: Diagnostics): void {
  const { values } = flags;
  const detector = values['saturation-detector'];
  const idle = (name: keyof FlowControlFlags, used: boolean, why: string) => {
    if (flags.given(name) && !used) warn(`--${name} has no effect ${why}`);
  };
  const withDetector = `with --saturation-detector ${detector}`;
  idle('queue-depth-threshold', detector === 'utilization', withDetector);
  idle('kv-cache-util-threshold', detector === 'utilization', withDetector);
  idle('max-concurrency', detector === 'concurrency', withDetector);
  idle('queue-shedding', values['max-gateway-queue-depth'] > 0, 'without --max-gateway-queue-depth');
}
