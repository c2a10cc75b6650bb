import { decimal } from '../../report/text/format-number.js';
import type { Metric } from '../metrics.js';
import type { Gain } from './gain.js';
import { isRatio } from './objective.js';
import type { Sensitivity } from './sensitivity.js';
import type { HeldOutGain } from './tune-document.js';

/** A sentence for each comparison on what was held out. */
export function gainSentences(metric: Metric, gains: readonly HeldOutGain[]): string[] {
  return gains.map(({ against, gain, role }) => {
    const what = role === 'given' ? 'the given policies' : 'the best without tuning';
    return `Against ${against} (${what}): ${metric.title} ${changeOf(metric, gain)}.`;
  });
}

/** What each knob does: those that matter first. */
export function knobSentences(metric: Metric, sensitivity: readonly Sensitivity[]): string[] {
  const idle = sensitivity.filter(({ matters }) => !matters).map(({ knob, value }) => `${knob} (${value})`);
  const moves = (one: Sensitivity) => one.moves.map(({ to, gain }) => `at ${to} ${changeOf(metric, gain)}`).join('; ');
  return [
    ...sensitivity.filter(({ matters }) => matters).map((one) => `${one.knob} = ${one.value}: ${moves(one)}.`),
    ...(idle.length === 0 ? [] : [`Does not matter beyond noise: ${idle.join(', ')}.`]),
  ];
}

/** `18.2 % lower, interval 12.1 to 23.9 %`. */
export function changeOf(metric: Metric, { change, high, low, verdict }: Gain): string {
  if (verdict === 'same') return 'the same';
  const scale = metric.unit === '' ? 1 : 100;
  const unit = isRatio(metric) ? ' %' : metric.unit === 'share' ? ' points' : '';
  const digits = metric.unit === '' ? 4 : 1;
  const size = `${decimal(Math.abs(change) * scale, digits)}${unit} ${change < 0 ? 'lower' : 'higher'}`;
  if (low === null || high === null) return `${size}, one pair`;
  const ends = change < 0 ? [-high, -low] : [low, high];
  const text = ends.map((end) => decimal(end * scale, digits)).join(' to ');
  return `${size}, ${verdict === 'noise' ? 'inside the noise, ' : ''}interval ${text}${unit}`;
}
