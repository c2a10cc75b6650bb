import type { DecisionRecord } from '../../gateway/decisions/decision-ring.js';
import type { ShadowDecision } from '../../gateway/decisions/shadow-decision.js';
import { decimal } from '../../report/text/format-number.js';

/** What each shadow policy would have chosen, one line each; nothing without shadows. */
export function explainShadows({ replica, shadows }: Pick<DecisionRecord, 'replica' | 'shadows'>): string[] {
  if (shadows.length === 0) return [];
  return [
    '',
    'shadow policies:',
    ...shadows.map((one) => `  ${one.shadow}: ${choiceText(one)}${ownText(one, replica)}`),
  ];
}

/** Its choice where requests are placed by the policy that serves. */
function choiceText({ outcome, replica, ttftDifferenceMs }: ShadowDecision): string {
  if (replica === null) return 'would have refused it';
  if (outcome === 'forced') return `${replica}, the only candidate`;
  if (outcome === 'same') return `${replica}, the same`;
  const tie = outcome === 'tied' ? ', which it scores the same: a draw decided' : '';
  if (ttftDifferenceMs === null) return `${replica}${tie}`;
  const sign = ttftDifferenceMs > 0 ? '+' : '';
  return `${replica}${tie}; predicted TTFT ${sign}${decimal(ttftDifferenceMs, 1)} ms`;
}

/** Its choice where it had placed all requests itself, unless that is the same. */
function ownText({ outcome, ownReplica, replica }: ShadowDecision, served: string | null): string {
  if (outcome === 'forced' || ownReplica === replica) return '';
  const same = ownReplica === served ? ', the same' : '';
  return `; had it placed all requests before, ${ownReplica ?? 'none'}${same}`;
}
