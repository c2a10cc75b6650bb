import { type ApiError, errorCode } from '../../protocol/errors.js';
import { Refusal, type ShortLimit } from '../access/limits/refusal.js';
import type { FinishedRequest } from '../request/request-record.js';

/** Why a request never got to a replica, and when to come back. Times are the gateway's clock, and as people write them. */
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
  /** What refused it, in words that are constants. */
  by: string;
  /** The limit that kept it out, if one did. */
  limit: ShortLimit | null;
  /** Whole seconds; null when nobody can say, or when no waiting helps. */
  retryAfterS: number | null;
  retryAt: string | null;
}

/** What is kept of a request that an endpoint refused. It is the exchange itself. */
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
  retryAfterS: number | null;
}

/** What refused those who reached no endpoint, by the code they were told. */
const CAUSES: Readonly<Record<string, string>> = {
  malformed: 'the request is malformed',
  forbidden: 'its key may not use the model',
  model_not_found: 'no replica serves the model',
  not_found: 'there is no such endpoint',
  request_too_large: 'the request is too large',
  unavailable: 'the gateway is going down',
};

/** Those without a right key are not remembered: they would make all others forgotten. */
const NOBODYS: ReadonlySet<number> = new Set([401, 429]);

/**
 * The last requests that were refused before a replica was chosen, a bounded number of them: the newest is written over the
 * oldest. It holds ids, names of the installation and numbers: no key, and nothing that a client wrote but the request's id.
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
    entry.retryAfterS = error.retryAfterS;
  }

  /** A request that reached no endpoint was refused. What it asked for is not kept: it may be anything. */
  turnedAway(id: string, status: number, code: string, atUs: number): void {
    if (NOBODYS.has(status)) return;
    const entry = this.#take();
    entry.id = id;
    entry.endpoint = '';
    entry.keyId = '';
    entry.arrivedUs = atUs;
    entry.atUs = atUs;
    entry.status = status;
    entry.code = code;
    entry.by = CAUSES[code] ?? code;
    entry.limit = null;
    entry.retryAfterS = null;
  }

  /** The last refusal of a request; undefined when there was none or it has made room. */
  find(id: string): RefusalRecord | undefined {
    const { length } = this.#entries;
    for (let i = 1; i <= length; i++) {
      const entry = this.#entries[(this.#next - i + length) % length]!;
      if (entry.id === id) return this.#recordOf(entry);
    }
    return undefined;
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
    retryAfterS: null,
  };
}
