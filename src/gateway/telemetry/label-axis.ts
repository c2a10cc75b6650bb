import { labelText } from '../../protocol/prometheus/exposition.js';

/** The label of all values beyond the limit. */
export const OTHER = 'other';
/** Longer values count as `other`. */
const MOST_CHARACTERS = 200;

/** Numbers the values of one or more labels from 0, so that counts can be kept in arrays. */
export interface Axis {
  /** Numbers are below. */
  readonly capacity: number;
  /** The numbers assigned so far. */
  readonly used: number;
  /** `endpoint="chat"`, as in the exposition. */
  text(index: number): string;
  /** Whether it counts the values beyond the limit. */
  isOverflow(index: number): boolean;
}

/**
 * The values of one label, in order of first use. They are never removed, so their number is bounded; the rest is
 * `other`.
 */
export class LabelAxis implements Axis {
  readonly capacity: number;
  readonly #label: string;
  /** In the order of their numbers. */
  readonly values: string[] = [OTHER];
  readonly #indexes = new Map<string, number>([[OTHER, 0]]);
  readonly #texts: string[];

  constructor(label: string, most: number) {
    this.capacity = most + 1;
    this.#label = label;
    this.#texts = [labelText(label, OTHER)];
  }

  get used(): number {
    return this.#texts.length;
  }

  index(value: string): number {
    return this.#indexes.get(value) ?? this.#add(value);
  }

  text(index: number): string {
    return this.#texts[index]!;
  }

  isOverflow(index: number): boolean {
    return index === 0;
  }

  #add(value: string): number {
    if (this.#texts.length === this.capacity || value.length > MOST_CHARACTERS) return 0;
    this.#indexes.set(value, this.#texts.length);
    this.values.push(value);
    return this.#texts.push(labelText(this.#label, value)) - 1;
  }
}

/**
 * Pairs of values of two labels, in order of first use. Every value of the first has its own `other`, so that a
 * thousand models of one endpoint do not displace those of another.
 */
export class PairAxis implements Axis {
  readonly capacity: number;
  readonly #first: LabelAxis;
  readonly #label: string;
  /** By the number of the first label's value. */
  readonly #indexes: readonly Map<string, number>[];
  /** Of the pairs within the limit; numbered after the overflow labels. */
  readonly #texts: string[] = [];

  constructor(first: LabelAxis, label: string, most: number) {
    this.#first = first;
    this.#label = label;
    this.#indexes = Array.from({ length: first.capacity }, () => new Map());
    this.capacity = first.capacity + most;
  }

  get used(): number {
    return this.#first.capacity + this.#texts.length;
  }

  /** @param first the number of the first label's value */
  index(first: number, value: string): number {
    return this.#indexes[first]!.get(value) ?? this.#add(first, value);
  }

  text(index: number): string {
    const { capacity } = this.#first;
    return index < capacity
      ? `${this.#first.text(index)},${labelText(this.#label, OTHER)}`
      : this.#texts[index - capacity]!;
  }

  isOverflow(index: number): boolean {
    return index < this.#first.capacity;
  }

  #add(first: number, value: string): number {
    if (this.used === this.capacity || value === OTHER || value.length > MOST_CHARACTERS) return first;
    const index = this.used;
    this.#indexes[first]!.set(value, index);
    this.#texts.push(`${this.#first.text(first)},${labelText(this.#label, value)}`);
    return index;
  }
}
