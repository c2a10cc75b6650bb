import { conflictingFlags } from '../errors.js';
import type { FlagTable, FlagValues } from '../flags/flag.js';
import { type FlowControlFlags, flowControlFlags } from '../flags/flow-control-flags.js';
import type { InstanceFlags } from '../flags/instance-flags.js';
import type { OutputFlags } from '../flags/output-flags.js';

/** Refuses the first of these flags that was given although it would have no effect. */
export function refuseGiven<Table extends FlagTable>(
  flags: FlagValues<Table>,
  names: readonly (keyof Table & string)[],
  problem: string,
  hint: string,
): void {
  for (const name of names) if (flags.given(name)) throw conflictingFlags(`--${name}`, problem, hint);
}

/** Flags that contradict each other or have no effect as given: nothing that was given is ignored in silence. */
export function checkConflicts(flags: FlagValues<FlowControlFlags & InstanceFlags & OutputFlags>): void {
  checkFlowControl(flags);
  checkCoefficients(flags);
  if (flags.values['trace-level'] !== 'decisions') {
    const names = ['counterfactual-k', 'summarize-trace', 'decisions-path'] as const;
    refuseGiven(flags, names, 'no decisions are recorded', 'add --trace-level decisions, or leave it out');
  }
}

export function checkFlowControl(flags: FlagValues<FlowControlFlags>): void {
  if (!flags.values['flow-control']) {
    const names = Object.keys(flowControlFlags) as (keyof FlowControlFlags)[];
    refuseGiven(flags, names, 'there is no gateway queue', 'add --flow-control, or leave it out');
  }
  if (flags.values['dispatch-order'] !== 'slo-deadline') {
    const problem = `--dispatch-order ${flags.values['dispatch-order']} uses no targets`;
    refuseGiven(flags, ['slo-targets'], problem, 'add --dispatch-order slo-deadline, or leave it out');
  }
}

function checkCoefficients(flags: FlagValues<InstanceFlags>): void {
  const both = ['alpha-coeffs', 'beta-coeffs'] as const;
  const model = flags.values['latency-model'];
  if (flags.given('latency-model') && model !== 'trained-physics') {
    const hint = 'leave it out, or give --latency-model trained-physics';
    refuseGiven(flags, both, `--latency-model ${model} has no coefficients`, hint);
  }
  if (!flags.given('beta-coeffs')) refuseGiven(flags, ['alpha-coeffs'], 'given without --beta-coeffs', 'give both');
  if (!flags.given('alpha-coeffs')) refuseGiven(flags, ['beta-coeffs'], 'given without --alpha-coeffs', 'give both');
}
