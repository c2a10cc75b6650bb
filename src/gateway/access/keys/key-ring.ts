import { randomBytes } from 'node:crypto';
import type { ApiError } from '../../../protocol/errors.js';
import type { KeyNews } from '../../../store/keys/keys.js';
import { KEY_MISSING, KEY_WRONG, tooManyWrongKeys } from '../errors.js';
import { AccessKey, Digest } from './access-key.js';
import { WrongKeys } from './wrong-keys.js';

const KEY_LENGTH = 'ty_'.length + 12 + 1 + 43;
const ID_START = 3;
const ID_END = 15;

/** Hashed instead of a text that does not have the length of a key, so that it takes the same time. */
const NO_TEXT = '-'.repeat(KEY_LENGTH);

/** Compared in place of a key that does not exist, so that unknown ids take the same time. */
const UNKNOWN_KEY = new AccessKey({
  id: '',
  workspace: '',
  name: '',
  hash: randomBytes(32).toString('hex'),
  previousHash: null,
  previousUntil: null,
  tenant: '',
  models: [],
  grants: [],
  maxSloClass: null,
  role: 'none',
  limits: {},
  expiresAt: null,
  revokedAt: 0,
});

/** Where keys are kept: `store.keys`. */
export interface KeySource {
  news(since: string | null): Promise<KeyNews | null>;
}

/** Creates keys from records; they are used once this resolves. */
export type PrepareKeys = (news: Omit<KeyNews, 'version'>) => Promise<AccessKey[]>;

/** All API keys of the store, in memory, and the check of a request's key. */
export class KeyRing {
  readonly wrongKeys: WrongKeys;
  /** Wrong keys so far, and how many of them got 429. */
  wrong = 0;
  wrongLimited = 0;
  readonly #source: KeySource;
  readonly #prepare: PrepareKeys;
  readonly #digest = new Digest();
  #keys = new Map<string, AccessKey>();
  #version: string | null = null;
  #refreshing: Promise<void> = Promise.resolve();

  constructor(
    source: KeySource,
    wrongKeysPerMinute: number,
    prepare: PrepareKeys = async ({ keys }) => keys.map((record) => new AccessKey(record)),
  ) {
    this.#source = source;
    this.wrongKeys = new WrongKeys(wrongKeysPerMinute);
    this.#prepare = prepare;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** The key with this id, even if it is revoked or expired. */
  find(id: string): AccessKey | undefined {
    return this.#keys.get(id);
  }

  /**
   * The key of these headers, or why the request is refused. Whatever was sent, one text as long as a key is hashed
   * and compared with two digests, in time that does not depend on them; counting a wrong one by its address takes less
   * than the further comparison of a valid one.
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
    const key = (hasLength ? this.#keys.get(text.slice(ID_START, ID_END)) : undefined) ?? UNKNOWN_KEY;
    this.#digest.set(hasLength ? text : NO_TEXT);
    if (key.matches(this.#digest, nowMs)) return key.refusal(nowMs) ?? key;
    return this.refuse(address, nowMs);
  }

  /**
   * Clients behind one address share it: if it were locked, any of them could lock out the others. Locking is not
   * needed, because 256 bits cannot be guessed; the limit only keeps attempts from filling logs and metrics with 401s.
   */
  refuse(address: string, nowMs: number, refusal: ApiError = KEY_WRONG): ApiError {
    this.wrong++;
    const retryAfterS = this.wrongKeys.count(address, nowMs);
    if (retryAfterS === 0) return refusal;
    this.wrongLimited++;
    return tooManyWrongKeys(retryAfterS);
  }

  /**
   * Loads changes of the store. When it resolves, everything that was in the store when it was called is loaded.
   */
  refresh(): Promise<void> {
    const refreshed = this.#refreshing.then(() => this.#load());
    this.#refreshing = refreshed.catch(() => {});
    return refreshed;
  }

  async #load(): Promise<void> {
    const news = await this.#source.news(this.#version);
    if (news === null) return;
    const keys = await this.#prepare(news);
    if (news.isAll) this.#keys = new Map(keys.map((key) => [key.id, key]));
    else {
      for (const key of keys) this.#keys.set(key.id, key);
      for (const id of news.removed) this.#keys.delete(id);
    }
    this.#version = news.version;
  }
}

/** The key in the headers; empty if there is none. */
export function keyText(authorization: string | undefined, apiKey: string | undefined): string {
  if (authorization !== undefined && isBearer(authorization)) return authorization.slice(7).trim();
  return apiKey?.trim() ?? '';
}

function isBearer(authorization: string): boolean {
  return authorization.startsWith('Bearer ') || authorization.slice(0, 7).toLowerCase() === 'bearer ';
}
