import { flowControlOf } from '../../policy/bundle/flow-control-schema.js';
import type { FlowControlConfig } from '../../simulator/cluster-config.js';
import type { PolicyBundle } from '../../simulator/policy-bundle.js';
import type { Diagnostics } from '../diagnostics.js';
import type { FlagValues } from '../flags/flag.js';
import type { FlowControlFlags } from '../flags/flow-control-flags.js';

/** The flag of each setting. */
const FLAGS = {
  saturationDetector: 'saturation-detector',
  dispatchOrder: 'dispatch-order',
  dispatchTickUs: 'dispatch-tick-interval',
  queueDepthThreshold: 'queue-depth-threshold',
  kvCacheUtilThreshold: 'kv-cache-util-threshold',
  maxConcurrency: 'max-concurrency',
  usageLimitThreshold: 'usage-limit-threshold',
  fairnessPolicy: 'fairness-policy',
  requestTtlUs: 'request-ttl',
  maxQueueDepth: 'max-gateway-queue-depth',
  perBandCapacity: 'per-band-capacity',
  queueShedding: 'queue-shedding',
  sloTargetsUs: 'slo-targets',
} as const satisfies Record<keyof FlowControlConfig, keyof FlowControlFlags>;

/**
 * The gateway queue, or null without one. A section `flow_control` of the policy file means the same as for a live gateway, with
 * the section's own defaults; given flags take precedence.
 */
export function resolveFlowControl(
  flags: FlagValues<FlowControlFlags>,
  bundle: PolicyBundle | null,
  diagnostics: Diagnostics,
): FlowControlConfig | null {
  const { values } = flags;
  const targets = { ...bundle?.admission.slo_targets };
  const section = bundle?.flow_control;
  const inBundle = section === undefined ? null : flowControlOf(section, targets);
  const isOn = values['flow-control'] || inBundle !== null;
  const order = inBundle === null || flags.given('dispatch-order') ? values['dispatch-order'] : inBundle.dispatchOrder;
  if (Object.keys(targets).length > 0 && order !== 'slo-deadline') {
    const place = bundle!.place('admission.slo_targets');
    diagnostics.warn(`${place}: has no effect without --flow-control --dispatch-order slo-deadline`);
  }
  if (!isOn) return null;
  const settings = Object.entries(FLAGS).map(([key, flag]) => [
    key,
    inBundle === null || flags.given(flag) ? values[flag] : inBundle[key as keyof FlowControlConfig],
  ]);
  const config = {
    ...Object.fromEntries(settings),
    sloTargetsUs: flags.given('slo-targets') ? values['slo-targets'] : targets,
  } as FlowControlConfig;
  warnOfIdleFlags(flags, config, diagnostics);
  return config;
}

/** Settings that are harmless but idle with the others as they are. */
function warnOfIdleFlags(flags: FlagValues<FlowControlFlags>, config: FlowControlConfig, { warn }: Diagnostics): void {
  const detector = config.saturationDetector;
  const idle = (name: keyof FlowControlFlags, used: boolean, why: string) => {
    if (flags.given(name) && !used) warn(`--${name} has no effect ${why}`);
  };
  const withDetector = `with --saturation-detector ${detector}`;
  idle('queue-depth-threshold', detector === 'utilization', withDetector);
  idle('kv-cache-util-threshold', detector === 'utilization', withDetector);
  idle('max-concurrency', detector === 'concurrency', withDetector);
  idle('queue-shedding', config.maxQueueDepth > 0, 'without --max-gateway-queue-depth');
}
