import type { UsageRow } from '../../store/usage/usage.js';
import type { FinishedRequest } from '../request/request-record.js';

/** What is counted of a request. */
export type CountedRequest = Pick<
  FinishedRequest,
  | 'keyId'
  | 'model'
  | 'endpoint'
  | 'outcome'
  | 'cause'
  | 'endedUs'
  | 'inputTokens'
  | 'cachedTokens'
  | 'outputTokens'
  | 'reasoningTokens'
  | 'isMetered'
  | 'characters'
  | 'audioSeconds'
  | 'liveId'
>;

/** The labels of a sum of usage; a day is UTC, written YYYY-MM-DD. */
export type UsageLabel = Pick<UsageRow, 'keyId' | 'model' | 'endpoint' | 'day' | 'outcome'>;

/** Counts of a sum, in the order in which they are kept and written. */
export const COUNTS = [
  'requests',
  'inputTokens',
  'cachedTokens',
  'outputTokens',
  'reasoningTokens',
  'estimatedRequests',
  'costNanos',
  'characters',
  'audioSeconds',
] as const satisfies readonly (keyof UsageRow)[];

/** Sums of usage, in columns: adding to one that is known allocates nothing. */
export class UsageTotals {
  readonly #labels: UsageLabel[] = [];
  readonly #ofKey = new Map<string, number[]>();
  #sums = new Float64Array(16 * COUNTS.length);

  /** How many labels there are; they are numbered in the order in which they came. */
  get size(): number {
    return this.#labels.length;
  }

  label(index: number): UsageLabel {
    return this.#labels[index]!;
  }

  /** The number of a label, or -1. A key has few, so that looking through them is quicker than hashing all names. */
  find(keyId: string, model: string, endpoint: string, day: string, outcome: string): number {
    const indexes = this.#ofKey.get(keyId);
    if (indexes === undefined) return -1;
    for (let i = 0; i < indexes.length; i++) {
      const label = this.#labels[indexes[i]!]!;
      if (label.model === model && label.outcome === outcome && label.endpoint === endpoint && label.day === day) {
        return indexes[i]!;
      }
    }
    return -1;
  }

  addLabel(label: UsageLabel): number {
    const index = this.#labels.push(label) - 1;
    const indexes = this.#ofKey.get(label.keyId);
    if (indexes === undefined) this.#ofKey.set(label.keyId, [index]);
    else indexes.push(index);
    if (this.#labels.length * COUNTS.length > this.#sums.length) {
      const grown = new Float64Array(this.#sums.length * 2);
      grown.set(this.#sums);
      this.#sums = grown;
    }
    return index;
  }

  add(label: number, count: number, value: number): void {
    this.#sums[label * COUNTS.length + count]! += value;
  }

  sum(label: number, count: number): number {
    return this.#sums[label * COUNTS.length + count]!;
  }

  rows(): UsageRow[] {
    return this.#labels.map((label, index) => {
      const row = { ...label } as UsageRow;
      for (let i = 0; i < COUNTS.length; i++) row[COUNTS[i]!] = this.sum(index, i);
      return row;
    });
  }
}
