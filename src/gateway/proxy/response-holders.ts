import { flatText } from '../request/flat-text.js';
import type { FinishedRequest } from '../request/request-record.js';

/** The replica that holds a stored response, and whose it is. */
export interface HeldResponse {
  /** Of the key that created it; empty where no keys are required. */
  readonly keyId: string;
  readonly model: string;
  readonly endpoint: string;
  readonly replicaId: string;
}

type Responding = Pick<FinishedRequest, 'endpoint' | 'keyId' | 'model' | 'replicaId' | 'status'>;

const MOST = 16_384;
const ID = /"id"\s*:\s*"(resp_[\w-]{1,120})"/;
/** The id comes first in a response, and in the first event of a stream. */
const SEARCHED_BYTES = 4096;

/**
 * Which replicas hold the responses of `/v1/responses`: engines keep them in memory, so that requests for one have to
 * go to the same replica. The newest are remembered.
 */
export class ResponseHolders {
  readonly #held = new Map<string, HeldResponse>();

  get size(): number {
    return this.#held.size;
  }

  /** Remembers where the response is stored that begins with these bytes, if it succeeds and its id is in them. */
  learn(piece: Buffer, { endpoint, keyId, model, replicaId, status }: Responding): void {
    const id = status < 300 ? ID.exec(piece.toString('latin1', 0, SEARCHED_BYTES))?.[1] : undefined;
    // A replica that repeats an id it has seen does not take the response from its owner.
    if (id === undefined || (this.#held.get(id)?.keyId ?? keyId) !== keyId) return;
    this.#held.delete(id);
    this.#held.set(flatText(id), { keyId, model, endpoint: endpoint.name, replicaId });
    if (this.#held.size <= MOST) return;
    const [oldest] = this.#held.keys();
    this.#held.delete(oldest!);
  }

  find(id: string): HeldResponse | undefined {
    return this.#held.get(id);
  }
}
