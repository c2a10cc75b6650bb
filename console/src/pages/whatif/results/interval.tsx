import type { Prediction } from '../documents';

/** The greatest change that the rows of a table draw, to either side. */
export function reachOf(metrics: readonly Prediction[]): number {
  const most = Math.max(0.05, ...metrics.flatMap(({ changeHigh, changeLow }) => [changeHigh, -changeLow]));
  return Math.min(2, most * 1.08);
}

interface IntervalProps {
  readonly prediction: Pick<Prediction, 'change' | 'changeHigh' | 'changeLow' | 'claim'>;
  /** The change at either end of the track. */
  readonly reach: number;
}

/** The interval of a change around what was measured, which is the line in the middle. The numbers stand beside it. */
export function Interval({ prediction, reach }: IntervalProps) {
  const at = (change: number) => 50 + (50 * Math.min(reach, Math.max(-reach, change))) / reach;
  const [low, high] = [at(prediction.changeLow), at(prediction.changeHigh)];
  return (
    <span className={`interval interval-${prediction.claim}`} aria-hidden="true">
      <span className="interval-band" style={{ left: `${low}%`, width: `${Math.max(0.5, high - low)}%` }} />
      <span className="interval-zero" />
      <span className="interval-point" style={{ left: `${at(prediction.change)}%` }} />
    </span>
  );
}
