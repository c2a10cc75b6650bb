import { hash, timingSafeEqual } from 'node:crypto';
import type { SloPriorities } from '../../../policy/slo-classes.js';
import type { ApiError } from '../../../protocol/errors.js';
import type { KeyRecord } from '../../../store/keys/key-record.js';
import { bodyTooLarge } from '../../errors.js';
import type { Account } from '../account/account.js';
import { keyExpired, keyRevoked, modelForbidden } from '../errors.js';
import type { Reach } from '../reach.js';

/** Equal to the digest of no known text. */
const NO_DIGEST = Buffer.alloc(32);

/**
 * The SHA-256 of a text, as bytes and as words of the same memory. One object for all texts: it holds the last one's.
 */
export class Digest {
  readonly bytes = Buffer.alloc(32);
  readonly words = new Int32Array(this.bytes.buffer, this.bytes.byteOffset, 8);

  set(text: string): void {
    // As hexadecimal text is the fastest way to get it out of the platform.
    this.bytes.write(hash('sha256', text), 'hex');
  }
}

/** A key prepared for requests: its digests, and the accounts it is counted on. */
export class AccessKey {
  readonly id: string;
  readonly tenant: string;
  readonly record: KeyRecord;
  /** Its own workspace, then those that it was granted. */
  readonly reach: Reach;
  /** The most bytes of a body; infinite without such a limit. */
  readonly bodyBytes: number;
  /** For all models together; null if they are not limited. */
  readonly any: Account | null;
  readonly #ofModels: ReadonlyMap<string, Account>;
  readonly #models: ReadonlySet<string> | null;
  readonly #digest: Buffer;
  readonly #previousDigest: Buffer;
  /** The first words of both: enough to recognise a wrong key. */
  readonly #first: number;
  readonly #second: number;
  readonly #previousFirst: number;
  readonly #previousSecond: number;
  readonly #previousUntil: number;
  readonly #expiresAt: number;

  /** @param accounts those its limits need, by scope */
  constructor(record: KeyRecord, accounts: ReadonlyMap<string, Account> = new Map()) {
    this.id = record.id;
    this.tenant = record.tenant;
    this.record = record;
    this.reach = [
      { workspace: record.workspace, models: null },
      ...record.grants.map(({ models, workspace }) => ({
        workspace,
        models: models === undefined ? null : new Set(models),
      })),
    ];
    this.bodyBytes = record.limits['*']?.bodyBytes ?? Number.POSITIVE_INFINITY;
    this.any = accounts.get('*') ?? null;
    this.#ofModels = accounts;
    this.#models = record.models === null ? null : new Set(record.models);
    this.#digest = Buffer.from(record.hash, 'hex');
    this.#previousDigest = record.previousHash === null ? NO_DIGEST : Buffer.from(record.previousHash, 'hex');
    this.#first = this.#digest.readInt32LE(0);
    this.#second = this.#digest.readInt32LE(4);
    this.#previousFirst = this.#previousDigest.readInt32LE(0);
    this.#previousSecond = this.#previousDigest.readInt32LE(4);
    this.#previousUntil = record.previousUntil ?? 0;
    this.#expiresAt = record.expiresAt ?? Number.POSITIVE_INFINITY;
  }

  get role(): KeyRecord['role'] {
    return this.record.role;
  }

  /**
   * Whether a text with this digest is this key. The first 64 bits of both digests are compared without a branch that
   * depends on them; only a key that matches those, which none does by chance, is compared as a whole. So a wrong key
   * costs less than a valid one, and always the same.
   */
  matches(digest: Digest, nowMs: number): boolean {
    const first = digest.words[0]!;
    const second = digest.words[1]!;
    const differs = (first ^ this.#first) | (second ^ this.#second);
    const differsFromPrevious = (first ^ this.#previousFirst) | (second ^ this.#previousSecond);
    if (differs !== 0 && differsFromPrevious !== 0) return false;
    const isPresent = timingSafeEqual(digest.bytes, this.#digest);
    const isPrevious = timingSafeEqual(digest.bytes, this.#previousDigest);
    return isPresent || (isPrevious && nowMs < this.#previousUntil);
  }

  /** Why the key is refused, if it is. */
  refusal(nowMs: number): ApiError | null {
    if (this.record.revokedAt !== null) return keyRevoked(this.id);
    return nowMs >= this.#expiresAt ? keyExpired(this.id) : null;
  }

  mayUse(model: string): boolean {
    return this.#models === null || this.#models.has(model);
  }

  /** Why a request for the model is refused, if it is. */
  modelRefusal(model: string): ApiError | null {
    return this.mayUse(model) ? null : modelForbidden(this.id, model);
  }

  /** Why a body of this many bytes is refused for the model, if it is. */
  bodyRefusal(model: string, bytes: number): ApiError | null {
    const most = this.record.limits[model]?.bodyBytes ?? this.bodyBytes;
    return bytes > most ? bodyTooLarge(most) : null;
  }

  /** The models of the list that it may use. */
  visible(models: readonly string[]): string[] {
    return models.filter((model) => this.mayUse(model));
  }

  /** The account of one model; null if the model has no limit of its own. A model may have any name, even `*`. */
  ofModel(model: string): Account | null {
    return model === '*' ? null : (this.#ofModels.get(model) ?? null);
  }

  /** Whether requests to a model have a budget in dollars. */
  limitsMoney(model: string): boolean {
    return (this.any?.limitsMoney ?? false) || (this.ofModel(model)?.limitsMoney ?? false);
  }

  /** The SLO class of a request: the requested one, but at most the most important class of the key. */
  allowedClass(asked: string, { priorityOf }: Pick<SloPriorities, 'priorityOf'>): string {
    const best = this.record.maxSloClass;
    return best === null || priorityOf(asked) <= priorityOf(best) ? asked : best;
  }
}
