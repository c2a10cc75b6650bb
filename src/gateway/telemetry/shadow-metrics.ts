import { type Exposition, labelText } from '../../protocol/prometheus/exposition.js';
import { SHADOW_OUTCOMES } from '../decisions/shadow-decision.js';
import { counter, gauge, type MetricFamily } from './metric-family.js';
import { agreementOf, type ShadowFigures } from './shadow-figures.js';

export const SHADOW_FAMILIES = {
  shadowDecisions: counter(
    'Shadow policies',
    'shadow_decisions_total',
    ['endpoint', 'shadow', 'placements', 'slo_class', 'outcome'],
    'Decisions of shadow policies compared with those of the policy that serves; placements: real, as the policy that serves placed all requests, or own, as if the shadow had.',
  ),
  shadowAgreement: gauge(
    'Shadow policies',
    'shadow_agreement_ratio',
    ['endpoint', 'shadow', 'slo_class'],
    'Share of decisions, on the real placements and with several candidates, in which a shadow policy chose the same replica or one that it scores the same; each decision stands for the dropped ones around it.',
  ),
  shadowDropped: counter(
    'Shadow policies',
    'shadow_dropped_total',
    ['endpoint', 'shadow'],
    'Decisions that a shadow policy did not make, because the gateway had no time for them.',
  ),
  shadowStopped: gauge(
    'Shadow policies',
    'shadow_stopped',
    ['endpoint', 'shadow'],
    '1 when a shadow policy decides no longer, because it failed; 0 while it decides.',
  ),
  shadowKnownPrefix: gauge(
    'Shadow policies',
    'shadow_known_prefix_ratio',
    ['endpoint', 'shadow', 'placements'],
    'Share of prompt tokens that had been sent to the chosen replica before, by the real placements and by those of the shadow policy; over about the last thousand decisions.',
  ),
  shadowPredictions: counter(
    'Shadow policies',
    'shadow_ttft_predictions_total',
    ['endpoint', 'shadow'],
    'Decisions of a shadow policy that differ and whose time to the first token is predicted for both replicas.',
  ),
  shadowGained: counter(
    'Shadow policies',
    'shadow_ttft_gained_seconds_total',
    ['endpoint', 'shadow'],
    'Predicted time to the first token that the choices of a shadow policy would have saved, where they differ.',
  ),
  shadowLost: counter(
    'Shadow policies',
    'shadow_ttft_lost_seconds_total',
    ['endpoint', 'shadow'],
    'Predicted time to the first token that the choices of a shadow policy would have added, where they differ.',
  ),
} as const;

/** Writes what shadow policies found. @param byEndpoint by the endpoint's name */
export function writeShadows(out: Exposition, byEndpoint: ReadonlyMap<string, readonly ShadowFigures[]>): void {
  const each = (family: MetricFamily, write: (labels: string, shadow: ShadowFigures) => void) => {
    out.family(family);
    for (const [endpoint, shadows] of byEndpoint) {
      for (const shadow of shadows) {
        write(`${labelText('endpoint', endpoint)},${labelText('shadow', shadow.name)}`, shadow);
      }
    }
  };
  each(SHADOW_FAMILIES.shadowDecisions, (labels, { onOwnPlacements, onRealPlacements }) => {
    for (const [placements, classes] of Object.entries({ real: onRealPlacements, own: onOwnPlacements })) {
      for (const counts of classes) {
        const by = `${labels},${labelText('placements', placements)},${labelText('slo_class', counts.sloClass)}`;
        for (const outcome of SHADOW_OUTCOMES) {
          if (counts[outcome] > 0) out.sample(`${by},${labelText('outcome', outcome)}`, counts[outcome]);
        }
      }
    }
  });
  each(SHADOW_FAMILIES.shadowAgreement, (labels, { onRealPlacements }) => {
    for (const counts of onRealPlacements) {
      const agreement = agreementOf([counts]);
      if (agreement !== null) out.sample(`${labels},${labelText('slo_class', counts.sloClass)}`, agreement);
    }
  });
  each(SHADOW_FAMILIES.shadowDropped, (labels, { dropped }) => out.sample(labels, dropped));
  each(SHADOW_FAMILIES.shadowStopped, (labels, { stopped }) => out.sample(labels, stopped === null ? 0 : 1));
  each(SHADOW_FAMILIES.shadowKnownPrefix, (labels, { knownPrefix }) => {
    if (knownPrefix === null) return;
    out.sample(`${labels},${labelText('placements', 'real')}`, knownPrefix.real);
    out.sample(`${labels},${labelText('placements', 'own')}`, knownPrefix.own);
  });
  each(SHADOW_FAMILIES.shadowPredictions, (labels, { ttft }) => out.sample(labels, ttft.count));
  each(SHADOW_FAMILIES.shadowGained, (labels, { ttft }) => out.sample(labels, ttft.gainedUs / 1e6));
  each(SHADOW_FAMILIES.shadowLost, (labels, { ttft }) => out.sample(labels, ttft.lostUs / 1e6));
}
