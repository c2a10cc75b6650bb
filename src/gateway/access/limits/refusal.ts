import { ApiError, type ErrorKind } from '../../../protocol/errors.js';

/** The limit that a request did not fit into. Money is in dollars. */
export interface ShortLimit {
  /** Its public name: `tokens_per_day`. */
  readonly name: string;
  /** A model, or `*` for all together. */
  readonly scope: string;
  readonly most: number;
  readonly left: number;
  readonly needed: number;
}

/** Why a request was refused, with its own headers, flat: name, value, name, value; without `retry-after`. */
export class Refusal extends ApiError {
  readonly headers: readonly string[];
  readonly limit: ShortLimit | null;

  constructor(
    kind: ErrorKind,
    message: string,
    { headers = [], limit = null, param = null, retryAfterS = null }: RefusalDetails = {},
  ) {
    super(kind, message, param, retryAfterS);
    this.headers = headers;
    this.limit = limit;
  }
}

export interface RefusalDetails {
  headers?: readonly string[];
  limit?: ShortLimit | null;
  param?: string | null;
  retryAfterS?: number | null;
}
