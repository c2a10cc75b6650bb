import { type SloPriorities, sloPriorities } from '../../policy/slo-classes.js';
import type { RotatedLines } from '../lines/rotated-lines.js';
import type { FinishedRequest } from '../request/request-record.js';
import { BlockIds } from './block-ids.js';
import { type RecordedKind, recordedId } from './recorded-id.js';

const MOST_NAMES = 4096;
const MOST_SESSIONS = 65_536;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type KnownClasses = Pick<SloPriorities, 'isKnown'>;

const BUILT_IN: KnownClasses = sloPriorities();

export interface RecorderParts {
  lines: RotatedLines;
  /** The key of the installation for hashed ids. */
  key: Buffer;
  /** Microseconds since 1970 at which the gateway's clock began. */
  epochUs: number;
}

/**
 * Records traffic as a trace that the simulator reads: one JSON line for every request at its end, with lengths,
 * times and the replica. It contains no prompt or response, nor anything else that a client may fill with text: blocks
 * of prompts, sessions, a client's own request ids, tenants without a key and unknown classes are keyed hashes. Names
 * that stay are those of the installation: models it serves, endpoints, replicas, and the tenants of its keys.
 */
export class TrafficRecorder {
  readonly lines: RotatedLines;
  readonly #key: Buffer;
  readonly #epochUs: number;
  readonly #blocks: BlockIds;
  readonly #names = new Memo(MOST_NAMES, (name) => (name === '' ? 'null' : JSON.stringify(name)));
  readonly #sessions: Memo;
  readonly #ownTenants: Memo;
  readonly #ownClasses: Memo;

  constructor({ lines, key, epochUs }: RecorderParts) {
    this.lines = lines;
    this.#key = key;
    this.#epochUs = Math.round(epochUs);
    this.#blocks = new BlockIds(key);
    const hashed = (kind: RecordedKind) => (name: string) =>
      name === '' ? 'null' : `"${recordedId(key, kind, name)}"`;
    this.#sessions = new Memo(MOST_SESSIONS, hashed('session'));
    this.#ownTenants = new Memo(MOST_NAMES, hashed('tenant'));
    this.#ownClasses = new Memo(MOST_NAMES, hashed('class'));
  }

  /**
   * The recorded form of a prompt's blocks. Taken when the request is placed, because the words are valid only until
   * the next prompt is read, and passed back as `recordedBlocks`.
   * @param words two for each full block, as BlockChain has them
   */
  blocksOf(words: Int32Array, count: number): string {
    return this.#blocks.list(words, count);
  }

  /**
   * @param classes of the policy: names that it defines belong to the installation and are recorded unchanged
   */
  record(request: FinishedRequest, classes: KnownClasses = BUILT_IN): void {
    const names = this.#names;
    const { isMetered, recordedBlocks } = request;
    // Without a key the tenant is the client's own claim.
    const tenant = (request.keyId === '' ? this.#ownTenants : names).of(request.tenant);
    const { sloClass } = request;
    const shownClass = (classes.isKnown(sloClass) ? names : this.#ownClasses).of(sloClass);
    // Only the engine knows what it found in its cache; a response that never began has no length.
    const cached = isMetered ? request.cachedTokens : 'null';
    const input = isMetered ? request.inputTokens : request.promptTokens;
    const output = isMetered || request.firstTokenUs >= 0 ? request.outputTokens : 'null';
    this.lines.write(
      `{"t_us":${this.#time(request.arrivedUs)},"id":"${this.#id(request.id)}","endpoint":${names.of(request.endpoint.name)},` +
        `"model":${names.of(request.model)},"tenant":${tenant},"session":${this.#sessions.of(request.session)},` +
        `"slo_class":${shownClass},"input_tokens":${input},"cached_tokens":${cached},` +
        `"output_tokens":${output},"block_size":${request.blockSize},"blocks":${recordedBlocks === '' ? '[]' : recordedBlocks},` +
        `"replica":${names.of(request.replicaId)},"dispatch_us":${this.#time(request.dispatchedUs)},` +
        `"first_token_us":${this.#time(request.firstTokenUs)},"end_us":${this.#time(request.endedUs)},` +
        `"status":${request.status},"outcome":"${request.outcome}"}`,
    );
  }

  flush(): void {
    this.lines.flush();
  }

  close(): void {
    this.lines.close();
  }

  /** A generated id reveals nothing; any other may contain a client's text. */
  #id(id: string): string {
    return id.length === 36 && UUID.test(id) ? id : recordedId(this.#key, 'request', id);
  }

  #time(us: number): number | string {
    return us < 0 ? 'null' : this.#epochUs + us;
  }
}

/** A cache of texts made from texts. It is emptied when it is full. */
class Memo {
  readonly #make: (text: string) => string;
  readonly #most: number;
  readonly #known = new Map<string, string>();

  constructor(most: number, make: (text: string) => string) {
    this.#most = most;
    this.#make = make;
  }

  of(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const made = this.#make(text);
    if (this.#known.size >= this.#most) this.#known.clear();
    this.#known.set(text, made);
    return made;
  }
}
