import { shownText } from '../../kernel/text/shown-text.js';
import { EVERY_CLASS } from '../../simulator/cluster-config.js';
import type { RequestTable } from '../../workload/request-table.js';
import type { Workload } from '../../workload/workload.js';
import type { Diagnostics } from '../diagnostics.js';
import type { FlagValues } from '../flags/flag.js';
import type { FlowControlFlags } from '../flags/flow-control-flags.js';
import type { OutputFlags } from '../flags/output-flags.js';

const CLASS_FLAGS = ['slo-ttft', 'slo-itl', 'slo-e2e', 'slo-targets'] as const;

/** Warns of flags for SLO classes that no request has. */
export function warnOfAbsentClasses(
  flags: FlagValues<FlowControlFlags & OutputFlags>,
  { table }: Workload,
  { warn }: Diagnostics,
): void {
  if (!CLASS_FLAGS.some((flag) => flags.given(flag))) return;
  const indexes = new Set(table.sloClass.subarray(0, table.count));
  const named = [...indexes].filter((index) => index > 0).map((index) => table.sloClasses.name(index));
  for (const flag of CLASS_FLAGS) {
    // Requests without a class: 'default' in results, 'standard' for the queue's targets.
    const unnamed = flag === 'slo-targets' ? 'standard' : 'default';
    const present = new Set(indexes.has(0) ? [...named, unnamed] : named);
    const absent = Object.keys(flags.values[flag]).filter((name) => name !== EVERY_CLASS && !present.has(name));
    if (absent.length === 0) continue;
    const known = [...present].sort().map(shownText).join(', ');
    warn(`--${flag}: no request has the class ${absent.map(shownText).join(' or ')}; there are: ${known}`);
  }
}

/** Warns when no request names the model that is served: all of them will be rejected. */
export function warnOfForeignModels(table: RequestTable, served: string, place: string, { warn }: Diagnostics): void {
  if (table.models.size === 1) return;
  for (let row = 0; row < table.count; row++) {
    const model = table.model[row]!;
    if (model === 0 || table.models.name(model) === served) return;
  }
  const first = shownText(table.models.name(table.model[0]!));
  warn(`${place} (model): no instance serves ${first} or any other model named there; '${served}' is served`);
}

/** Warns when turns wait for responses but no request is part of a session. */
export function warnOfMissingSessions({ sessions }: RequestTable, place: string, { warn }: Diagnostics): void {
  if (sessions.size > 1) return;
  warn(`${place} (session_id): --session-mode closed-loop has no effect: no request is part of a session`);
}
