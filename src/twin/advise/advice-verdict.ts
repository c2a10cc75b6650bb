import { WHAT_IF_TITLES, type WhatIfMetric } from '../whatif/recorded-metrics.js';
import { whatIfChange, whatIfValue } from '../whatif/whatif-verdict.js';
import type { Advice } from './advice-document.js';
import type { SwitchCost } from './switch-cost.js';

/** What to do, and what it costs. */
export function adviceVerdict(
  present: string,
  best: Advice | null,
  cost: SwitchCost | null,
  refused: string | null,
  metric: WhatIfMetric,
): string {
  if (refused !== null) return `Nothing can be advised: ${refused}.`;
  const title = WHAT_IF_TITLES[metric].replace(/, (ms|%)$/, '');
  if (best === null) return `Keep ${present}: no other policy gives a better ${title} for certain.`;
  const range = `between ${whatIfChange(metric, best.changeLow)} and ${whatIfChange(metric, best.changeHigh)}`;
  const gain = `${title} ${whatIfValue(metric, best.predicted)} instead of ${whatIfValue(metric, best.was)} (${whatIfChange(metric, best.change)}, ${range})`;
  return `Switch from ${present} to ${best.policy}: ${gain}. ${costText(cost)}`;
}

/** Where there was nothing to choose from. @param isAlone one replica served all */
export function keepVerdict(present: string, isAlone: boolean): string {
  return `Keep ${present}: ${isAlone ? 'there is one replica, which every policy chooses' : 'no other policy was to be compared'}.`;
}

function costText(cost: SwitchCost | null): string {
  if (cost === null || cost.windows.length === 0) return 'What the switch costs is not known.';
  const { extraTtftMs, warmAfterS, worst } = cost;
  if (warmAfterS === 0) return 'The switch costs nothing that can be seen: caches are warm at once.';
  const until = warmAfterS === null ? 'until the recording ends' : `for ${duration(warmAfterS)}`;
  const compared =
    worst > 0
      ? `at worst ${(100 * worst).toFixed(0)} % above that of the present policy`
      : 'and never above that of the present policy';
  return `After the switch TTFT is ${extraTtftMs.toFixed(0)} ms above that of warm caches ${until}, ${compared}.`;
}

function duration(seconds: number): string {
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} minutes` : `${Math.ceil(seconds / 3600)} hours`;
}
