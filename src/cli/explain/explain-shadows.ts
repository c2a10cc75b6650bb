import type { DecisionRecord } from '../../gateway/decisions/decision-ring.js';
import type { ShadowDecision } from '../../gateway/decisions/shadow-decision.js';
import { decimal } from '../../report/text/format-number.js';
import type { Style } from '../../report/text/style.js';

/** What each shadow policy would have chosen, by both readings; nothing without shadows. */
export function explainShadows(
  { policy, replica, shadows }: Pick<DecisionRecord, 'policy' | 'replica' | 'shadows'>,
  style: Style,
): string[] {
  if (shadows.length === 0) return [];
  const header = ['shadow policy', 'real placements', 'own placements'];
  const rows = shadows.map((one) => [nameText(one), realText(one), ownText(one, replica)]);
  return [
    '',
    ...style.table([header, ...rows], ['left', 'left', 'left']),
    ...style.prose(
      `real placements: where ${policy} placed all requests before; own placements: where the shadow had placed them itself. tied: ` +
        'it scores both replicas the same, and a draw decided. A shadow that is missing had no time for this request.',
    ),
  ];
}

const nameText = ({ policy, shadow }: ShadowDecision) => (policy === shadow ? shadow : `${shadow} (${policy})`);

function realText({ outcome, replica, ttftDifferenceMs }: ShadowDecision): string {
  if (replica === null) return 'refused';
  const choice = `${replica}, ${OUTCOMES[outcome]}`;
  if (outcome === 'forced' || outcome === 'same' || ttftDifferenceMs === null) return choice;
  return `${choice}, TTFT ${ttftDifferenceMs > 0 ? '+' : ''}${decimal(ttftDifferenceMs, 1)} ms`;
}

function ownText({ outcome, ownReplica }: ShadowDecision, served: string | null): string {
  if (ownReplica === null) return 'refused';
  if (outcome === 'forced') return `${ownReplica}, ${OUTCOMES.forced}`;
  return `${ownReplica}, ${ownReplica === served ? OUTCOMES.same : OUTCOMES.different}`;
}

const OUTCOMES: Record<ShadowDecision['outcome'], string> = {
  same: 'same',
  tied: 'tied',
  different: 'other',
  forced: 'only candidate',
};
