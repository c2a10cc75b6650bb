import type { Shortfall } from '../../policy/contract.js';
import { type ApiError, errorCode } from '../../protocol/errors.js';
import { Refusal, type ShortLimit } from '../access/limits/refusal.js';
import { NotAdmitted } from '../errors.js';
import type { FinishedRequest } from '../request/request-record.js';

/** Why a request did not reach a replica, and when to retry. Times by the gateway's clock, and as dates. */
export interface RefusalRecord {
  id: string;
  /** Null when it reached none. */
  endpoint: string | null;
  /** The public id of its key; null without one. */
  key: string | null;
  arrivedUs: number;
  atUs: number;
  at: string;
  status: number;
  code: string;
  /** What refused it: a constant. */
  by: string;
  /** The limit that refused it, if any. */
  limit: ShortLimit | null;
  /** What it lacked to be admitted, where the admission policy can tell. */
  shortfall: Shortfall | null;
  /** Whole seconds; null when unknown, or when a retry does not help. */
  retryAfterS: number | null;
  retryAt: string | null;
}

/** The facts of a request that an endpoint refused. */
export type RefusedRequest = Pick<FinishedRequest, 'id' | 'endpoint' | 'keyId' | 'cause' | 'arrivedUs' | 'endedUs'>;

interface Entry {
  id: string;
  endpoint: string;
  keyId: string;
  arrivedUs: number;
  atUs: number;
  status: number;
  code: string;
  by: string;
  limit: ShortLimit | null;
  shortfall: Shortfall | null;
  retryAfterS: number | null;
}

/** What refused requests that reached no endpoint, by error code. */
const CAUSES: Readonly<Record<string, string>> = {
  malformed: 'the request is malformed',
  forbidden: 'its key may not use the model',
  model_not_found: 'no replica serves the model',
  not_found: 'there is no such endpoint',
  request_too_large: 'the request is too large',
  unavailable: 'the gateway is going down',
  rate_limit_exceeded: 'over a limit',
  insufficient_quota: 'over a limit',
};

/** Requests without a valid key are not recorded: they would push out all others. */
const NOBODYS: ReadonlySet<number> = new Set([401, 429]);

/**
 * The last requests that were refused before a replica was chosen, a bounded number of them: the newest overwrites the
 * oldest. It holds ids, names of the installation and numbers: no key, and nothing that a client wrote but the
 * request's id.
 */
export class RefusalRing {
  readonly #most: number;
  readonly #epochUs: number;
  readonly #entries: Entry[] = [];
  #next = 0;

  /** @param epochUs the beginning of the gateway's clock, since 1970 */
  constructor(most: number, epochUs: number) {
    this.#most = most;
    this.#epochUs = epochUs;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** An endpoint, its queue or a limit of its key has refused a request. */
  refused({ arrivedUs, cause, endedUs, endpoint, id, keyId }: RefusedRequest, error: ApiError): void {
    const entry = this.#take();
    entry.id = id;
    entry.endpoint = endpoint.name;
    entry.keyId = keyId;
    entry.arrivedUs = arrivedUs;
    entry.atUs = endedUs;
    entry.status = error.status;
    entry.code = errorCode(error);
    entry.by = cause;
    entry.limit = error instanceof Refusal ? error.limit : null;
    entry.shortfall = error instanceof NotAdmitted ? error.shortfall : null;
    entry.retryAfterS = error.retryAfterS;
  }

  /**
   * Records a refused request that reached no endpoint. Its model is not recorded, because it may be any text.
   * @param keyId empty without a valid key
   */
  turnedAway(id: string, error: ApiError, keyId: string, atUs: number): void {
    if (keyId === '' && NOBODYS.has(error.status)) return;
    const entry = this.#take();
    const code = errorCode(error);
    entry.id = id;
    entry.endpoint = '';
    entry.keyId = keyId;
    entry.arrivedUs = atUs;
    entry.atUs = atUs;
    entry.status = error.status;
    entry.code = code;
    entry.by = CAUSES[code] ?? code;
    entry.limit = error instanceof Refusal ? error.limit : null;
    entry.shortfall = null;
    entry.retryAfterS = error.retryAfterS;
  }

  /** The last refusal of a request; undefined when there is none, or no longer. */
  find(id: string): RefusalRecord | undefined {
    const { length } = this.#entries;
    for (let i = 1; i <= length; i++) {
      const entry = this.#entries[(this.#next - i + length) % length]!;
      if (entry.id === id) return this.#recordOf(entry);
    }
    return undefined;
  }

  /** Refusals by some endpoints are found no more. @param untilUs later ones are */
  forget(isOf: (endpoint: string) => boolean, untilUs: number): void {
    for (const entry of this.#entries)
      if (entry.atUs <= untilUs && entry.endpoint !== '' && isOf(entry.endpoint)) entry.id = '';
  }

  #take(): Entry {
    const at = this.#next;
    this.#next = (at + 1) % this.#most;
    this.#entries[at] ??= emptyEntry();
    return this.#entries[at];
  }

  #recordOf({ endpoint, keyId, ...entry }: Entry): RefusalRecord {
    const { atUs, retryAfterS } = entry;
    return {
      ...entry,
      endpoint: endpoint === '' ? null : endpoint,
      key: keyId === '' ? null : keyId,
      at: this.#iso(atUs),
      retryAt: retryAfterS === null ? null : this.#iso(atUs + retryAfterS * 1e6),
    };
  }

  #iso(us: number): string {
    return new Date((this.#epochUs + us) / 1000).toISOString();
  }
}

function emptyEntry(): Entry {
  return {
    id: '',
    endpoint: '',
    keyId: '',
    arrivedUs: 0,
    atUs: 0,
    status: 0,
    code: '',
    by: '',
    limit: null,
    shortfall: null,
    retryAfterS: null,
  };
}
