import type { CountedValues } from '../../kernel/counted-values.js';
import { GapLog } from './gap-log.js';
import type { RunningBatch } from './running-batch.js';

/** The gaps between tokens of completed requests, from the steps in which each slot got a token. */
export class TokenGaps {
  readonly #batch: RunningBatch;
  readonly #log = new GapLog();

  constructor(batch: RunningBatch) {
    this.#batch = batch;
  }

  /** A step of this duration has run. Slots without a token in it must have been reported before. */
  record(durationUs: number): void {
    if (this.#log.isFull) this.#log.makeRoom(this.#oldestOpen());
    this.#log.record(durationUs);
  }

  /** The slot's first token is out: the next step makes its first gap. */
  open(slot: number): void {
    this.#batch.firstGap[slot] = this.#log.nextStep;
  }

  /** These slots get no token in the step that is about to be recorded. */
  sitOutAll(slots: readonly number[], durationUs: number): void {
    for (const slot of slots) this.sitOut(slot, durationUs);
  }

  sitOut(slot: number, durationUs: number): void {
    const batch = this.#batch;
    const step = this.#log.nextStep;
    const earlier = batch.earlierGaps.get(slot);
    if (earlier === undefined) batch.earlierGaps.set(slot, [batch.firstGap[slot]!, step]);
    else earlier.push(batch.firstGap[slot]!, step);
    batch.firstGap[slot] = step + 1;
    batch.idleUs[slot]! += durationUs;
    batch.sitOut(slot);
  }

  /** The slot's request is complete: its gaps count. */
  claim(slot: number): void {
    if (this.#batch.idleUs[slot]! > 0) {
      const earlier = this.#batch.earlierGaps.get(slot)!;
      for (let i = 0; i < earlier.length; i += 2) this.#log.claim(earlier[i]!, earlier[i + 1]!);
    }
    this.#log.claim(this.#batch.firstGap[slot]!, this.#log.nextStep);
  }

  /** The slot's gaps so far, for a request that gives up its seat but not its tokens. */
  soFar(slot: number): number[] {
    const batch = this.#batch;
    const earlier = (batch.idleUs[slot]! > 0 && batch.earlierGaps.get(slot)) || [];
    const ranges = [...earlier, batch.firstGap[slot]!, this.#log.nextStep];
    const gaps: number[] = [];
    for (let i = 0; i < ranges.length; i += 2) gaps.push(...this.#log.durations(ranges[i]!, ranges[i + 1]!));
    return gaps;
  }

  /** Gaps of a request that is complete. */
  claimAll(gapsUs: readonly number[]): void {
    for (const us of gapsUs) this.#log.add(us);
  }

  /** Gap durations of completed requests, without the constant per-token overhead. Call it when nothing runs any more. */
  counts(): CountedValues {
    return this.#log.counts();
  }

  #oldestOpen(): number {
    const batch = this.#batch;
    let oldest = Number.POSITIVE_INFINITY;
    for (let place = 0; place < batch.size; place++) {
      const slot = batch.order[place]!;
      if (batch.decodes[slot] === 0) continue;
      oldest = Math.min(oldest, batch.earlierGaps.get(slot)?.[0] ?? batch.firstGap[slot]!);
    }
    return oldest;
  }
}
