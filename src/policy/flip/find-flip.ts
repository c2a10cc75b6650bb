import type { FleetView, Signal } from '../fleet-view.js';
import type { PickState } from '../pick-state.js';
import type { RequestFeatures } from '../request-features.js';
import { flipCandidates } from './flip-candidates.js';
import { type FlipSignalName, flipSignals } from './flip-signals.js';
import { FlipTrack } from './flip-track.js';
import type { Repicker } from './repicker.js';

/** The smallest change of one signal of one replica that changes a choice. Replicas are slots. */
export interface Flip {
  replica: number;
  signal: FlipSignalName;
  from: number;
  to: number;
  /** What is chosen then; -1 when the request is refused. */
  chosen: number;
}

/** What was searched, and the flip that was found. */
export interface FlipSearch {
  /** Null for none within the bounds. */
  flip: Flip | null;
  /** The values that were tried, by signal. */
  bounds: { signal: FlipSignalName; least: number; greatest: number }[];
  /** How many of the eligible replicas were changed, one at a time. */
  replicas: number;
  eligible: number;
  /** Every value within the bounds was tried, or every smaller one than the flip; else values at growing distances. */
  isExhaustive: boolean;
}

/** A pick with all it was made from. */
export interface PastPick {
  reads: readonly Signal[];
  request: RequestFeatures;
  view: FleetView;
  state: PickState;
  chosen: number;
}

/** Replicas that the picks of one search look at, together, if every value is tried: a few milliseconds. */
const BUDGET = 300_000;
/** Where all values are too many, they are tried at distances that grow by this factor, and the nearest is found by halving. */
const GROWTH = 1.5;
/** Values between two distances that are all tried instead of halved. */
const FEW_STEPS = 8;

/**
 * Finds what would have flipped a pick, by making it again with other signals. Changes are compared in requests: one request
 * queued, running or in flight counts as much as the tokens or the blocks of this prompt, or 5 % of a KV cache. Of equal changes the
 * signal that the policy names first counts, then the first replica. View and request are as before afterwards. Null when the pick
 * cannot be repeated: the policy depended on something that it did not save.
 */
export function findFlip({ chosen, reads, request, state, view }: PastPick, repicker: Repicker): FlipSearch | null {
  const again = () => repicker.pick(request, view, state);
  if (again() !== chosen) return null;
  const signals = flipSignals(reads, request, view);
  const { eligible, slots } = flipCandidates(view, chosen, signals, again);
  const tracks = signals.flatMap((signal) =>
    slots.flatMap((slot) => [new FlipTrack(signal, slot, 1), new FlipTrack(signal, slot, -1)]),
  );
  const search = new Search(tracks, again, chosen, view.size);
  return {
    // The choice of one replica can only turn into none.
    flip: eligible < (repicker.mayRefuse ? 1 : 2) ? null : search.run(),
    bounds: signals.map(({ greatest, least, name }) => ({ signal: name, least, greatest })),
    replicas: slots.length,
    eligible,
    isExhaustive: search.isExhaustive && slots.length === eligible,
  };
}

/** Tries all tracks at growing sizes of change: a change that flips is the smallest once all of its size were tried. */
class Search {
  readonly isExhaustive: boolean;
  readonly #tracks: readonly FlipTrack[];
  readonly #again: () => number;
  readonly #chosen: number;

  constructor(tracks: readonly FlipTrack[], again: () => number, chosen: number, replicas: number) {
    const values = tracks.reduce((sum, { length }) => sum + length, 0);
    this.#tracks = tracks;
    this.#again = again;
    this.#chosen = chosen;
    this.isExhaustive = values * replicas <= BUDGET;
  }

  run(): Flip | null {
    const tracks = this.#tracks.filter(({ length }) => length > 0);
    let size = Math.min(...tracks.map(({ signal }) => 1 / (signal.perUnit * signal.scale)));
    for (;;) {
      let best: { track: FlipTrack; steps: number; size: number } | null = null;
      let isDone = true;
      for (const track of tracks) {
        const within = track.stepsWithin(best === null ? size : best.size);
        const steps = this.#firstFlip(track, within);
        const own = steps === 0 ? Number.POSITIVE_INFINITY : track.size(steps);
        if (steps > 0 && (best === null || own < best.size)) best = { track, steps, size: own };
        track.tried = Math.max(track.tried, within);
        isDone &&= track.tried === track.length;
      }
      if (best !== null) return this.#flip(best.track, best.steps);
      if (isDone) return null;
      size *= GROWTH;
    }
  }

  /** The least step after those tried, at most this one, that flips; 0 for none. */
  #firstFlip(track: FlipTrack, within: number): number {
    if (within <= track.tried) return 0;
    if (this.isExhaustive || within - track.tried <= FEW_STEPS) return this.#firstOf(track, track.tried, within);
    if (!this.#flips(track, within)) return 0;
    let [stays, flips] = [track.tried, within];
    while (flips - stays > FEW_STEPS) {
      const middle = (stays + flips) >>> 1;
      if (this.#flips(track, middle)) flips = middle;
      else stays = middle;
    }
    return this.#firstOf(track, stays, flips);
  }

  #firstOf(track: FlipTrack, after: number, last: number): number {
    for (let steps = after + 1; steps <= last; steps++) if (this.#flips(track, steps)) return steps;
    return 0;
  }

  #flips(track: FlipTrack, steps: number): boolean {
    return this.#choice(track, steps) !== this.#chosen;
  }

  /** The choice with the changed signal, which is put back. */
  #choice(track: FlipTrack, steps: number): number {
    const { column } = track.signal;
    column[track.slot] = track.value(steps);
    try {
      return this.#again();
    } finally {
      column[track.slot] = track.from;
    }
  }

  #flip(track: FlipTrack, steps: number): Flip {
    const { from, signal, slot } = track;
    return { replica: slot, signal: signal.name, from, to: track.value(steps), chosen: this.#choice(track, steps) };
  }
}
