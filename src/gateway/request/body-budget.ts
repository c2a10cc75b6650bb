import type { ApiError } from '../../protocol/errors.js';
import { bodiesOfKeyFull, bodiesTooMany } from '../errors.js';

/** The most bytes of bodies at a time. */
export interface BodyLimits {
  readonly inflightBytes: number;
  readonly inflightBytesPerKey: number;
}

/** Bytes of the bodies of all requests that have not ended: what does not fit is refused, before memory runs out. */
export class BodyBudget {
  bytes = 0;
  readonly #ofKeys = new Map<string, number>();

  /** @param keyId empty where no keys are required: then the requests share the whole budget */
  hold(keyId: string, limits: BodyLimits): BodyHold {
    return new BodyHold(this, keyId, limits);
  }

  ofKey(keyId: string): number {
    return this.#ofKeys.get(keyId) ?? 0;
  }

  add(keyId: string, bytes: number): void {
    this.bytes += bytes;
    if (keyId === '') return;
    const total = this.ofKey(keyId) + bytes;
    if (total === 0) this.#ofKeys.delete(keyId);
    else this.#ofKeys.set(keyId, total);
  }
}

/** The part of the budget that one body takes, as it arrives. */
export class BodyHold {
  readonly #budget: BodyBudget;
  readonly #keyId: string;
  readonly #limits: BodyLimits;
  #bytes = 0;

  constructor(budget: BodyBudget, keyId: string, limits: BodyLimits) {
    this.#budget = budget;
    this.#keyId = keyId;
    this.#limits = limits;
  }

  /** The body has this many bytes so far. Returns why it is refused. */
  grow(bytes: number): ApiError | null {
    const more = bytes - this.#bytes;
    const { inflightBytes, inflightBytesPerKey } = this.#limits;
    if (this.#budget.bytes + more > inflightBytes) return bodiesTooMany();
    if (this.#keyId !== '' && this.#budget.ofKey(this.#keyId) + more > inflightBytesPerKey) {
      return bodiesOfKeyFull(inflightBytesPerKey);
    }
    this.#bytes = bytes;
    this.#budget.add(this.#keyId, more);
    return null;
  }

  /** The request has ended; further calls do nothing. */
  readonly release = (): void => {
    if (this.#bytes > 0) this.#budget.add(this.#keyId, -this.#bytes);
    this.#bytes = 0;
  };
}
