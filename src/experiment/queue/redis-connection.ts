import type { Redis } from 'ioredis';
import { InputError, RunError } from '../../kernel/errors.js';

/** How long a server may take to accept the first connection. Later ones are awaited: work continues when it is back. */
const CONNECT_MS = 10_000;
const MOST_RETRY_MS = 2000;

/** Reports that the server went away and came back. */
export type ConnectionReport = (line: string) => void;

/**
 * Connects to the server of a URL: redis:// or rediss:// with TLS, with a password and a database. A first connection that fails
 * is an error; from then on commands wait until the server is back.
 */
export async function connectRedis(url: string, place: string, report: ConnectionReport = () => {}): Promise<Redis> {
  const shown = shownUrl(url, place);
  const { Redis: Client } = await import('ioredis');
  let isOpen = false;
  let isAway = false;
  const redis = new Client(url, {
    lazyConnect: true,
    // As the queue requires: a command waits for the connection instead of failing.
    maxRetriesPerRequest: null,
    connectTimeout: CONNECT_MS,
    retryStrategy: (times) => (isOpen ? Math.min(MOST_RETRY_MS, 50 * times) : null),
  });
  let problem = '';
  redis.on('error', (error: Error) => {
    problem = error.message;
    if (!isOpen || isAway) return;
    isAway = true;
    report(`${shown} is away (${withoutSecrets(problem, url)}): waiting for it; nothing that was computed is lost`);
  });
  // Not for a connection that was closed here.
  redis.on('reconnecting', () => {
    if (isAway) return;
    isAway = true;
    report(`${shown} closed the connection: waiting for it; nothing that was computed is lost`);
  });
  redis.on('ready', () => {
    if (isAway) report(`${shown} is back`);
    isAway = false;
  });
  redis.on('end', () => {
    isOpen = false;
  });
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    redis.disconnect();
    const told = withoutSecrets(problem || (error as Error).message, url);
    throw new InputError('REDIS_UNREACHABLE', place, `cannot use ${shown}: ${told}`, hintFor(told));
  }
  isOpen = true;
  return redis;
}

function hintFor(problem: string): string {
  if (/NOAUTH|WRONGPASS|AUTH/i.test(problem))
    return 'write the password into the URL, as in redis://:password@host:6379';
  if (/NOPERM/.test(problem)) return 'give the user of the URL all commands on keys that start with twinyard:';
  if (/certificate/i.test(problem))
    return 'name the authority that signed it: NODE_EXTRA_CA_CERTS=ca.pem in the environment of this command';
  return "start a server ('redis-server'), or correct the URL: redis://host:6379, rediss:// for TLS";
}

/** The URL without user and password: the only form that is printed. */
export function shownUrl(url: string, place: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw badUrl(place);
  }
  if (!['redis:', 'rediss:'].includes(parsed.protocol) || parsed.hostname === '') throw badUrl(place);
  return `${parsed.protocol}//${parsed.host}${parsed.pathname === '/' ? '' : parsed.pathname}`;
}

function badUrl(place: string): InputError {
  // The text may hold a password: it is not repeated.
  return new InputError(
    'BAD_VALUE',
    place,
    'is no URL of a Redis server',
    'give redis://host:6379, or rediss:// for TLS',
  );
}

function withoutSecrets(text: string, url: string): string {
  const { password, username } = new URL(url);
  let clean = text;
  for (const secret of [password, decodeURIComponent(password), username]) {
    if (secret !== '') clean = clean.replaceAll(secret, '***');
  }
  return clean;
}

/** An error of the server: out of memory, read only, no permission. */
export function redisRefused(error: unknown): RunError {
  return new RunError('REDIS_REFUSED', `the Redis server refused a command: ${(error as Error).message}`);
}
