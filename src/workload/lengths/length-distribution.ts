import type { RandomStream } from '../../kernel/random-stream.js';

/** Whole numbers within limits: tokens, turns, pauses in microseconds. */
export interface LengthSampler {
  draw(random: RandomStream): number;
}

/** The kind of a number sets its limits, for any distribution. */
export interface LengthLimits {
  least: number;
  most: number;
}

/** A parameter of a distribution, for checks and for the documentation. */
export interface LengthParameter {
  /** An amount has the limits of what is drawn; any other number has these. */
  values: 'amount' | { min: number; max: number; above?: boolean };
  /** Absent ones leave the sampler to the limits. */
  needed: boolean;
  help: string;
}

/** A length distribution: one file and one line in the registry. */
export interface LengthDistribution {
  name: string;
  /** One line for the documentation. */
  summary: string;
  /** By name; null when lengths themselves are the names. */
  parameters: Readonly<Record<string, LengthParameter>> | null;
  /** Of parameters that have been checked. Nothing is drawn where nothing varies. */
  create(parameters: Readonly<Record<string, number>>, limits: LengthLimits): LengthSampler;
}

const BOUNDS: Readonly<Record<'min' | 'max', LengthParameter>> = {
  min: { values: 'amount', needed: false, help: 'no value is smaller' },
  max: { values: 'amount', needed: false, help: 'no value is greater' },
};

/** The parameters of a distribution that may be cut at both ends. */
export function boundedParameters(
  own: Readonly<Record<string, LengthParameter>>,
): Readonly<Record<string, LengthParameter>> {
  return { ...own, ...BOUNDS };
}

/** Cuts and rounds a drawn value. */
export class Bounds {
  readonly #min: number;
  readonly #max: number;

  constructor({ min, max }: Readonly<Record<string, number>>, limits: LengthLimits) {
    this.#min = Math.max(limits.least, Math.ceil(min ?? limits.least));
    this.#max = Math.max(limits.least, Math.min(limits.most, Math.floor(max ?? limits.most)));
  }

  get leavesNoChoice(): boolean {
    return this.#min >= this.#max;
  }

  whole(value: number): number {
    return Math.round(Math.min(this.#max, Math.max(this.#min, value)));
  }
}

/** Always the same, without a draw. */
export function always(length: number): LengthSampler {
  return { draw: () => length };
}
