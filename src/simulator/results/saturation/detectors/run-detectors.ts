import type { DetectorSettings } from '../../../cluster-config.js';
import type { DetectorVerdict, LoadLevel } from '../../../result-document.js';
import type { RequestTimes } from '../load-bins.js';
import type { DetectorFinding } from './load-detector.js';
import { createDetector } from './registry.js';

/** From the least to the most severe. */
const LEVELS: readonly LoadLevel[] = ['stable', 'backlogged', 'overloaded'];

/** A change of what a detector says. */
export interface DetectorChange extends Pick<DetectorFinding, 'level' | 'signals'> {
  time_s: number;
  detector: string;
}

/**
 * Lets detectors follow a run from its first arrival to its last one: what drains after it says nothing about the load. Each
 * detector's verdict is what it said most often in the last seconds, the more severe of two that are equal.
 * @param onChange gets each detector's first finding and every change of its level
 */
export function runDetectors(
  times: RequestTimes,
  settings: DetectorSettings,
  onChange: (change: DetectorChange) => void = () => {},
): Record<string, DetectorVerdict> {
  const { arrivalUs, e2eUs } = times;
  const arrivals = Float64Array.from(arrivalUs).sort();
  const completions = completionsInOrder(arrivalUs, e2eUs);
  const fromUs = arrivals[0] ?? 0;
  const toUs = arrivals.at(-1) ?? 0;
  const voters = settings.names.map((name) => ({
    name,
    detector: createDetector(name, settings, toUs - fromUs),
    votes: [0, 0, 0],
    last: null as LoadLevel | null,
  }));
  const windowUs = settings.windowS * 1e6;
  let next = 0;
  for (let i = 0, c = 0; i < arrivals.length; ) {
    const completion = completions[c];
    const isArrival = completion === undefined || arrivals[i]! <= completion.atUs;
    next = isArrival ? arrivals[i++]! : completion.atUs;
    if (!isArrival) c++;
    for (const voter of voters) {
      if (isArrival) voter.detector.arrived(next);
      else voter.detector.completed(next, completion.e2eMs);
      const level = voter.detector.level();
      if (next >= toUs - windowUs) voter.votes[LEVELS.indexOf(level)]! += 1;
      if (level === voter.last) continue;
      voter.last = level;
      const { signals } = voter.detector.finding();
      onChange({ time_s: (next - fromUs) / 1e6, detector: voter.name, level, signals });
    }
  }
  return Object.fromEntries(
    voters.map(({ name, detector, votes }) => {
      const { level: now, signals, why } = detector.finding();
      const level = votes.every((count) => count === 0) ? 'stable' : LEVELS[votes.lastIndexOf(Math.max(...votes))]!;
      return [name, { level, why: level === now ? why : '', signals }];
    }),
  );
}

function completionsInOrder(
  arrivalUs: ArrayLike<number>,
  e2eUs: ArrayLike<number>,
): readonly { atUs: number; e2eMs: number }[] {
  const completions: { atUs: number; e2eMs: number }[] = [];
  for (let row = 0; row < arrivalUs.length; row++) {
    const us = e2eUs[row]!;
    if (!Number.isNaN(us)) completions.push({ atUs: arrivalUs[row]! + us, e2eMs: us / 1000 });
  }
  return completions.sort((a, b) => a.atUs - b.atUs);
}

/** What the detectors say, as the end of a verdict: `composite overloaded (latency +80 %), threshold stable`. */
export function detectorsText(detectors: Readonly<Record<string, DetectorVerdict>>): string {
  const parts = Object.entries(detectors).map(
    ([name, { level, why }]) => `${name} ${level}${why === '' ? '' : ` (${why})`}`,
  );
  return parts.join(', ');
}
