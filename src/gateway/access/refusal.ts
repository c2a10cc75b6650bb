import { ApiError, type ErrorKind } from '../../protocol/errors.js';

/** Why a request was not let in, with headers of its own, flat: name, value, name, value. `retry-after` is not among them. */
export class Refusal extends ApiError {
  readonly headers: readonly string[];

  constructor(
    kind: ErrorKind,
    message: string,
    { headers = [], param = null, retryAfterS = null }: RefusalDetails = {},
  ) {
    super(kind, message, param, retryAfterS);
    this.headers = headers;
  }
}

export interface RefusalDetails {
  headers?: readonly string[];
  param?: string | null;
  retryAfterS?: number | null;
}
