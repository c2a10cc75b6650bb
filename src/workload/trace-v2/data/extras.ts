import type { SeenColumns } from './seen-columns.js';

/** Columns of a trace that the simulator does not use. */
export class Extras {
  readonly sourceId: Float64Array;
  readonly wantedUs: Float64Array;
  readonly thinkTimeUs: Float64Array;
  readonly prefixLength: Int32Array;
  readonly serverTokens: Int32Array;
  /** Measurements of responses; null where they are not requested. */
  readonly seen: SeenColumns | null;

  constructor(capacity: number, seen: SeenColumns | null) {
    this.seen = seen;
    this.sourceId = new Float64Array(capacity);
    this.wantedUs = new Float64Array(capacity);
    this.thinkTimeUs = new Float64Array(capacity);
    this.prefixLength = new Int32Array(capacity);
    this.serverTokens = new Int32Array(capacity);
  }

  grown(capacity: number): Extras {
    const next = new Extras(capacity, this.seen?.grown(capacity) ?? null);
    next.sourceId.set(this.sourceId);
    next.wantedUs.set(this.wantedUs);
    next.thinkTimeUs.set(this.thinkTimeUs);
    next.prefixLength.set(this.prefixLength);
    next.serverTokens.set(this.serverTokens);
    return next;
  }
}
