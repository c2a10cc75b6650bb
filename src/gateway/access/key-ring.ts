import { hash, randomBytes } from 'node:crypto';
import type { ApiError } from '../../protocol/errors.js';
import type { KeyRecord } from '../../store/key-record.js';
import { AccessKey } from './access-key.js';
import { KEY_MISSING, KEY_WRONG, tooManyWrongKeys } from './errors.js';
import { WrongKeys } from './wrong-keys.js';

const KEY_LENGTH = 'ty_'.length + 12 + 1 + 43;
const ID_START = 3;
const ID_END = 15;

/** What is hashed instead of something that has not even the length of a key: so that it takes the same time. */
const NO_TEXT = '-'.repeat(KEY_LENGTH);

/** Answers for keys that do not exist. */
const NOBODY = new AccessKey({
  id: '',
  name: '',
  hash: randomBytes(32).toString('hex'),
  previousHash: null,
  previousUntil: null,
  hint: '',
  tenant: '',
  models: [],
  maxSloClass: null,
  role: 'none',
  limits: {},
  createdAt: 0,
  expiresAt: null,
  revokedAt: 0,
});

/** Where keys are kept: `store.keys`. */
export interface KeySource {
  version(): Promise<string>;
  list(): Promise<KeyRecord[]>;
}

/** All keys of the store, in memory, and the question whether somebody has one of them. */
export class KeyRing {
  readonly wrongKeys: WrongKeys;
  /** Wrong keys so far, and how many of them were told to wait. */
  wrong = 0;
  wrongLimited = 0;
  readonly #source: KeySource;
  readonly #prepare: (records: readonly KeyRecord[]) => Promise<AccessKey[]>;
  readonly #digest = Buffer.alloc(32);
  #keys = new Map<string, AccessKey>();
  #version: string | null = null;
  #refreshing: Promise<void> = Promise.resolve();

  /** @param prepare makes keys of records; they are asked for only once this is done */
  constructor(
    source: KeySource,
    wrongKeysPerMinute: number,
    prepare: (records: readonly KeyRecord[]) => Promise<AccessKey[]> = async (records) =>
      records.map((record) => new AccessKey(record)),
  ) {
    this.#source = source;
    this.wrongKeys = new WrongKeys(wrongKeysPerMinute);
    this.#prepare = prepare;
  }

  get size(): number {
    return this.#keys.size;
  }

  /**
   * Who sent these headers, or why nobody is let in with them. Whatever was sent, one text of a key's length is hashed and
   * compared with two digests, in time that does not depend on them.
   */
  check(
    authorization: string | undefined,
    apiKey: string | undefined,
    address: string,
    nowMs: number,
  ): AccessKey | ApiError {
    const text = keyText(authorization, apiKey);
    if (text === '') return KEY_MISSING;
    const hasLength = text.length === KEY_LENGTH;
    const key = (hasLength ? this.#keys.get(text.slice(ID_START, ID_END)) : undefined) ?? NOBODY;
    // The digest as hexadecimal text is the fastest way to get one out of the platform.
    this.#digest.write(hash('sha256', hasLength ? text : NO_TEXT), 'hex');
    if (key.matches(this.#digest, nowMs)) return key.refusal(nowMs) ?? key;
    return this.#refuse(address, nowMs);
  }

  /**
   * Those behind one address share it: if it were locked, anybody among them could lock out the others. It need not be, since
   * nobody guesses 256 bits; the limit only keeps those who try from filling logs and metrics with 401s.
   */
  #refuse(address: string, nowMs: number): ApiError {
    this.wrong++;
    const retryAfterS = this.wrongKeys.count(address, nowMs);
    if (retryAfterS === 0) return KEY_WRONG;
    this.wrongLimited++;
    return tooManyWrongKeys(retryAfterS);
  }

  /** Takes in what has changed in the store. When it resolves, whatever was in the store when it was called is known here. */
  refresh(): Promise<void> {
    const refreshed = this.#refreshing.then(() => this.#load());
    this.#refreshing = refreshed.catch(() => {});
    return refreshed;
  }

  async #load(): Promise<void> {
    // The version first: what changes while the keys are read is read again next time.
    const version = await this.#source.version();
    if (version === this.#version) return;
    const keys = await this.#prepare(await this.#source.list());
    this.#keys = new Map(keys.map((key) => [key.id, key]));
    this.#version = version;
  }
}

/** The key in the headers; empty if there is none. */
function keyText(authorization: string | undefined, apiKey: string | undefined): string {
  if (authorization !== undefined && isBearer(authorization)) return authorization.slice(7).trim();
  return apiKey?.trim() ?? '';
}

function isBearer(authorization: string): boolean {
  return authorization.startsWith('Bearer ') || authorization.slice(0, 7).toLowerCase() === 'bearer ';
}
