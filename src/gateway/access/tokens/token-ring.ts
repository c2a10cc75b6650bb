import { hash } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { ApiError } from '../../../protocol/errors.js';
import type { KeyRecord } from '../../../store/keys/key-record.js';
import type { JwtConfig } from '../../config/jwt-schema.js';
import { issuerUnreachable, jwtRefused } from '../errors.js';
import type { AccessKey } from '../keys/access-key.js';
import { IssuerKeys, IssuerUnreachable } from './issuer-keys.js';
import { tokenRecord } from './token-record.js';

const MOST_CHARACTERS = 8192;
/** A verified token is checked again after this time: its key may have been withdrawn. */
const LONGEST_MS = 300_000;
/** A refused one is not checked again for a moment. */
const REFUSED_MS = 5000;
/** While the issuer cannot be reached, it is tried again by the next request. */
const UNREACHED_MS = 500;
const MOST_VERIFIED = 20_000;
/** Anyone can send wrong tokens: they take no place from verified ones. */
const MOST_REFUSED = 1000;
/** Further ones have to come again. */
const MOST_UNDER_WAY = 1000;
const FORM = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

interface Entry<Found = AccessKey | ApiError> {
  readonly found: Found;
  readonly untilMs: number;
}

export interface TokenRingParts {
  readonly config: JwtConfig;
  readonly nowMs: () => number;
  /** Makes the key of a subject; its accounts are open when it resolves. */
  readonly prepare: (record: KeyRecord) => Promise<AccessKey>;
}

/**
 * Tokens of an issuer and what they give. A token is verified once and remembered by its hash: further requests with it
 * cost one hash.
 */
export class TokenRing {
  readonly keys: IssuerKeys;
  /** Verifications so far. */
  verified = 0;
  readonly #parts: TokenRingParts;
  /** The oldest first. */
  readonly #verified = new Map<string, Entry<AccessKey>>();
  readonly #refused = new Map<string, Entry<ApiError>>();
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(parts: TokenRingParts) {
    this.#parts = parts;
    this.keys = new IssuerKeys(parts.config, parts.nowMs);
  }

  /** Whether a text has the form of a token; no API key has. */
  isToken(text: string): boolean {
    return text.startsWith('eyJ') && (text.length > MOST_CHARACTERS || FORM.test(text));
  }

  /** Tokens that are remembered. */
  get size(): number {
    return this.#verified.size + this.#refused.size;
  }

  /** What a token gives, or why it is refused; null while that is not known. */
  known(token: string): AccessKey | ApiError | null {
    if (token.length > MOST_CHARACTERS) return jwtRefused(`it has more than ${MOST_CHARACTERS} characters`);
    const digest = digestOf(token);
    const entry = this.#verified.get(digest) ?? this.#refused.get(digest);
    return entry === undefined || entry.untilMs <= this.#parts.nowMs() ? null : entry.found;
  }

  /**
   * Verifies a token; when it resolves, the result is known, unless too many others are being verified. Never rejects but with a
   * bug.
   */
  verify(token: string): Promise<void> {
    const digest = digestOf(token);
    const before = this.#underWay.get(digest);
    if (before !== undefined) return before;
    if (this.#underWay.size >= MOST_UNDER_WAY) return Promise.resolve();
    const verified = this.#entryOf(token)
      .then((entry) => this.#remember(digest, entry))
      .finally(() => this.#underWay.delete(digest));
    this.#underWay.set(digest, verified);
    return verified;
  }

  /** Forgets all: accounts have been opened again. */
  clear(): void {
    this.#verified.clear();
    this.#refused.clear();
  }

  /** Forgets tokens that have to be verified again. Returns the ids of the subjects of the others. */
  sweep(): Set<string> {
    const subjects = new Set<string>();
    const nowMs = this.#parts.nowMs();
    for (const [digest, { found, untilMs }] of this.#verified) {
      if (untilMs <= nowMs) this.#verified.delete(digest);
      else subjects.add(found.id);
    }
    return subjects;
  }

  async #entryOf(token: string): Promise<Entry> {
    const { config, nowMs, prepare } = this.#parts;
    const now = nowMs();
    this.verified++;
    try {
      const claims = await this.#claimsOf(token, now);
      const record = tokenRecord(claims, config);
      if (record === null) throw jwtRefused('no rule of access.jwt gives its subject a workspace');
      const endMs = (claims.exp! + config.leeway_s) * 1000;
      return { found: await prepare(record), untilMs: Math.min(endMs, now + LONGEST_MS) };
    } catch (error) {
      if (error instanceof IssuerUnreachable) return { found: issuerUnreachable(), untilMs: now + UNREACHED_MS };
      return { found: refusalOf(error), untilMs: now + REFUSED_MS };
    }
  }

  async #claimsOf(token: string, now: number): Promise<JWTPayload> {
    const { algorithms, audience, issuer, leeway_s } = this.#parts.config;
    const { payload } = await jwtVerify(token, this.keys.find, {
      ...{ issuer, audience, algorithms: [...algorithms], clockTolerance: leeway_s },
      currentDate: new Date(now),
      requiredClaims: ['exp'],
    });
    if (payload.iat !== undefined && payload.iat > now / 1000 + leeway_s) throw jwtRefused('it is of the future');
    return payload;
  }

  #remember(digest: string, { found, untilMs }: Entry): void {
    this.#verified.delete(digest);
    this.#refused.delete(digest);
    if (found instanceof ApiError) add(this.#refused, digest, { found, untilMs }, MOST_REFUSED);
    else add(this.#verified, digest, { found, untilMs }, MOST_VERIFIED);
  }
}

function add<Found>(entries: Map<string, Found>, digest: string, entry: Found, most: number): void {
  entries.set(digest, entry);
  const [oldest] = entries.keys();
  if (entries.size > most) entries.delete(oldest!);
}

const digestOf = (token: string) => hash('sha256', token, 'base64url');

/** An error of the store is thrown on as a refusal without details. */
function refusalOf(error: unknown): ApiError {
  if (error instanceof errors.JWTExpired) return jwtRefused('it has expired');
  if (error instanceof errors.JWTClaimValidationFailed) return jwtRefused(`its claim '${error.claim}' is not accepted`);
  if (error instanceof errors.JOSEAlgNotAllowed) return jwtRefused('its algorithm is not allowed');
  if (error instanceof errors.JWKSNoMatchingKey) return jwtRefused('the issuer has no such key');
  if (error instanceof errors.JWSSignatureVerificationFailed) return jwtRefused('its signature is wrong');
  if (error instanceof errors.JOSEError) return jwtRefused('it is malformed');
  return (error as { status?: number }).status === 401 ? (error as ApiError) : issuerUnreachable();
}
