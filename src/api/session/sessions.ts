import { randomBytes } from 'node:crypto';
import { tooManySessions } from '../errors.js';

/** A session that is not used for this long ends, and every session after `LIFE_MS`. */
const IDLE_MS = 8 * 3_600_000;
const LIFE_MS = 24 * 3_600_000;
/** A login link is for the person who has just asked for it. */
const LINK_MS = 15 * 60_000;
/** Sessions, and login links: of all API keys together, and of each of them. */
const MOST = 1000;
const MOST_OF_ONE = 20;
/** Who holds the admin token: there is always room for it. */
export const ADMIN_OWNER = 'admin token';

/** What a caller authenticates with: the values of two headers. */
export interface HeldCredentials {
  readonly authorization: string | undefined;
  readonly apiKey: string | undefined;
}

/** What belongs to a caller: the id of its key, or `ADMIN_OWNER`. */
interface Owned {
  readonly owner: string;
  readonly endsMs: number;
  /** Checked again with every call: a key that is revoked ends its sessions. They are in memory only. */
  readonly credentials: HeldCredentials;
}

export interface Session extends Owned {
  readonly id: string;
  /** Sent back by the page with every change: a form of another site cannot know it. */
  readonly csrfToken: string;
  usedMs: number;
}

const random = () => randomBytes(32).toString('base64url');

/**
 * The sessions of browsers and the links that open them, a bounded number of each, in memory: a restart ends them all. A caller
 * that has too many loses its own.
 */
export class Sessions {
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>();
  readonly #links = new Map<string, Owned>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Of the caller's own, the session that was not used for longest makes room. Throws when others have taken all places. */
  open(owner: string, credentials: HeldCredentials): Session {
    const usedMs = this.#nowMs();
    for (const one of this.#sessions.values()) if (hasEnded(one, usedMs)) this.#sessions.delete(one.id);
    if (!makeRoom(this.#sessions, owner)) throw tooManySessions('sessions', MOST);
    const facts = { owner, credentials, endsMs: usedMs + LIFE_MS };
    const session: Session = { id: random(), csrfToken: random(), ...facts, usedMs };
    this.#sessions.set(session.id, session);
    return session;
  }

  /** The session of an id, which is in use from now on; null when it has ended. */
  find(id: string): Session | null {
    const session = this.#sessions.get(id);
    if (session === undefined) return null;
    const now = this.#nowMs();
    this.#sessions.delete(id);
    if (hasEnded(session, now)) return null;
    session.usedMs = now;
    this.#sessions.set(id, session);
    return session;
  }

  close(id: string): void {
    this.#sessions.delete(id);
  }

  /** A token that opens one session with these credentials, once and soon. Throws when others have taken all places. */
  link(owner: string, credentials: HeldCredentials): { token: string; endsMs: number } {
    const now = this.#nowMs();
    for (const [token, { endsMs }] of this.#links) if (endsMs <= now) this.#links.delete(token);
    if (!makeRoom(this.#links, owner)) throw tooManySessions('login links', MOST);
    const token = `${LINK_PREFIX}${random()}`;
    this.#links.set(token, { owner, credentials, endsMs: now + LINK_MS });
    return { token, endsMs: now + LINK_MS };
  }

  /** The credentials behind a link, whose token is void from now on; null for an unknown, used or old one. */
  follow(token: string): HeldCredentials | null {
    const link = this.#links.get(token);
    this.#links.delete(token);
    return link === undefined || link.endsMs <= this.#nowMs() ? null : link.credentials;
  }
}

const hasEnded = ({ endsMs, usedMs }: Session, nowMs: number) => nowMs >= endsMs || nowMs - usedMs >= IDLE_MS;

/** Deletes the caller's oldest where it has its share. Returns whether there is room for another. */
function makeRoom(all: Map<string, Owned>, owner: string): boolean {
  const own = [...all].filter(([, one]) => one.owner === owner);
  if (own.length >= MOST_OF_ONE) return all.delete(own[0]![0]);
  return owner === ADMIN_OWNER || all.size < MOST;
}

const LINK_PREFIX = 'login_';

/** The token of a login link in an `authorization` header; null when it holds something else. */
export function linkTokenIn(authorization: string | undefined): string | null {
  const match = /^Bearer (login_[\w-]{43})$/.exec(authorization ?? '');
  return match === null ? null : match[1]!;
}

/** Browsers keep what follows the `#` to themselves: neither servers nor proxies log it. */
export const loginHash = (token: string) => `#login=${token}`;
