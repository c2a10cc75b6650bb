import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { ISSUER_URL, type JwtConfig } from '../../config/jwt-schema.js';

/** Tokens with unknown keys make the keys be fetched no more often than this. */
const FLOOR_MS = 10_000;
/** Older keys are fetched again, while requests still use them. */
const FRESH_MS = 300_000;
const TIMEOUT_MS = 5000;
const MOST_BYTES = 512 * 1024;

/** The keys of the issuer have never been read. */
export class IssuerUnreachable extends Error {}

/** The public keys of an issuer. The last ones that were read are kept while it does not respond. */
export class IssuerKeys {
  /** Fetches so far, and how many failed. */
  fetches = 0;
  failures = 0;
  readonly #config: Pick<JwtConfig, 'issuer' | 'jwks_url'>;
  readonly #nowMs: () => number;
  #find: JWTVerifyGetKey | null = null;
  #readMs = Number.NEGATIVE_INFINITY;
  #triedMs = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | null = null;

  constructor(config: Pick<JwtConfig, 'issuer' | 'jwks_url'>, nowMs: () => number) {
    this.#config = config;
    this.#nowMs = nowMs;
  }

  /** The key of a token; rejects with `IssuerUnreachable`, or with an error of jose when the issuer has no such key. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const isOld = this.#nowMs() - this.#readMs >= FRESH_MS;
    const refreshed = isOld ? this.#refresh() : null;
    if (this.#find === null) await (refreshed ?? this.#fetching);
    try {
      return await this.#known(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The issuer may have begun to use a new one.
      await this.#refresh();
      return this.#known(header, token);
    }
  };

  get isFetching(): boolean {
    return this.#fetching !== null;
  }

  #known(...[header, token]: Parameters<JWTVerifyGetKey>): ReturnType<JWTVerifyGetKey> {
    if (this.#find === null) throw new IssuerUnreachable(`the keys of ${this.#config.issuer} cannot be read`);
    return this.#find(header, token);
  }

  /** Resolves when a fetch has ended, well or not; at once where the last one was a moment ago. */
  #refresh(): Promise<void> {
    if (this.#fetching !== null) return this.#fetching;
    if (this.#nowMs() - this.#triedMs < FLOOR_MS) return Promise.resolve();
    this.#triedMs = this.#nowMs();
    this.fetches++;
    this.#fetching = fetchKeys(this.#config)
      .then(
        (keys) => {
          this.#find = createLocalJWKSet(keys);
          this.#readMs = this.#triedMs;
        },
        () => {
          this.failures++;
        },
      )
      .finally(() => {
        this.#fetching = null;
      });
    return this.#fetching;
  }
}

/** Reads the keys of an issuer, by its discovery document unless their URL is known. */
export async function fetchKeys({ issuer, jwks_url }: Pick<JwtConfig, 'issuer' | 'jwks_url'>): Promise<JSONWebKeySet> {
  const url = jwks_url ?? (await discovered(issuer));
  const keys = (await fetchJson(url)) as unknown as JSONWebKeySet;
  if (!Array.isArray(keys.keys) || keys.keys.length === 0) throw new Error(`${url} has no keys`);
  return keys;
}

async function discovered(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { issuer: named, jwks_uri } = await fetchJson(url);
  if (named !== issuer) throw new Error(`${url} is of the issuer '${named}'`);
  if (typeof jwks_uri !== 'string' || !ISSUER_URL.test(jwks_uri)) throw new Error(`${url} has no usable jwks_uri`);
  return jwks_uri;
}

async function fetchJson(url: string): Promise<Record<string, unknown>> {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url} responded with status ${response.status}`);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new Error(`${url} has more than ${MOST_BYTES} bytes`);
    pieces.push(piece);
  }
  const value: unknown = JSON.parse(Buffer.concat(pieces).toString('utf8'));
  if (typeof value !== 'object' || value === null) throw new Error(`${url} is not a JSON object`);
  return value as Record<string, unknown>;
}
