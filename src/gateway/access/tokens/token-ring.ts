import { hash } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import type { ApiError } from '../../../protocol/errors.js';
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
const MOST_ENTRIES = 20_000;
const FORM = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

interface Entry {
  readonly found: AccessKey | ApiError;
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
  readonly #entries = new Map<string, Entry>();
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(parts: TokenRingParts) {
    this.#parts = parts;
    this.keys = new IssuerKeys(parts.config, parts.nowMs);
  }

  /** Whether a text has the form of a token; no API key has. */
  isToken(text: string): boolean {
    return text.startsWith('eyJ') && (text.length > MOST_CHARACTERS || FORM.test(text));
  }

  get size(): number {
    return this.#entries.size;
  }

  /** What a token gives, or why it is refused; null while that is not known. */
  known(token: string): AccessKey | ApiError | null {
    if (token.length > MOST_CHARACTERS) return jwtRefused(`it has more than ${MOST_CHARACTERS} characters`);
    const entry = this.#entries.get(digestOf(token));
    return entry === undefined || entry.untilMs <= this.#parts.nowMs() ? null : entry.found;
  }

  /** Verifies a token; when it resolves, the result is known. Never rejects but with a bug. */
  verify(token: string): Promise<void> {
    const digest = digestOf(token);
    const before = this.#underWay.get(digest);
    if (before !== undefined) return before;
    const verified = this.#entryOf(token)
      .then((entry) => this.#remember(digest, entry))
      .finally(() => this.#underWay.delete(digest));
    this.#underWay.set(digest, verified);
    return verified;
  }

  /** Forgets all: accounts have been opened again. */
  clear(): void {
    this.#entries.clear();
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

  #remember(digest: string, entry: Entry): void {
    this.#entries.delete(digest);
    this.#entries.set(digest, entry);
    if (this.#entries.size <= MOST_ENTRIES) return;
    const [oldest] = this.#entries.keys();
    this.#entries.delete(oldest!);
  }
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
