import { timingSafeEqual } from 'node:crypto';
import type { AdminCall } from '../../gateway/server/admin-api.js';
import { CrossSite, Unauthenticated } from '../errors.js';
import { isSameOrigin, sessionIdIn } from './session-cookie.js';
import { type HeldCredentials, linkTokenIn, type Sessions } from './sessions.js';

export const SESSION_PATH = '/api/v1/session';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

type Call = Pick<AdminCall, 'method' | 'path' | 'header'>;

/** What a call authenticates with. */
export interface CallCredentials {
  /** As they are now: null once the session has ended. */
  now(): HeldCredentials | null;
  /** The session that the call belongs to; null for a call with credentials of its own. */
  readonly sessionId: string | null;
}

/**
 * The credentials of a call: its own headers, or those that its session was opened with. Throws `Unauthenticated`, and `CrossSite`
 * for a call with a session that a page of another origin may have sent.
 */
export function credentialsOf(sessions: Sessions, call: Call): CallCredentials {
  const [authorization, apiKey] = [call.header('authorization'), call.header('x-api-key')];
  if (authorization !== undefined || apiKey !== undefined) {
    const own = openedByLink(sessions, call, authorization) ?? { authorization, apiKey };
    return { now: () => own, sessionId: null };
  }
  const id = sessionIdIn(call.header);
  const session = id === null ? null : sessions.find(id);
  if (session === null) return { now: () => ({ authorization, apiKey }), sessionId: null };
  if (!isSameOrigin(call.header)) throw new CrossSite('the request comes from a page of another origin');
  if (!SAFE.has(call.method) && !isEqual(call.header('x-csrf-token') ?? '', session.csrfToken)) {
    throw new CrossSite('the header x-csrf-token is missing or wrong');
  }
  return { now: () => sessions.find(session.id)?.credentials ?? null, sessionId: session.id };
}

/** A link opens a session and nothing else; its token is void afterwards. */
function openedByLink(sessions: Sessions, { header, method, path }: Call, authorization: string | undefined) {
  const token = linkTokenIn(authorization);
  if (token === null || method !== 'POST' || path !== SESSION_PATH || !isSameOrigin(header)) return null;
  const found = sessions.follow(token);
  if (found === null)
    throw new Unauthenticated(
      401,
      'the login link was used before, or is too old: log in with the admin token, or get another link',
    );
  return found;
}

/** In constant time, as for every secret. */
function isEqual(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
