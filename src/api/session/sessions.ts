import { randomBytes } from 'node:crypto';

/** A session that is not used for this long ends, and every session after `LIFE_MS`. */
const IDLE_MS = 8 * 3_600_000;
const LIFE_MS = 24 * 3_600_000;
/** A login link is for the person who has just asked for it. */
const LINK_MS = 15 * 60_000;
const MOST_SESSIONS = 1000;
const MOST_OF_ONE = 20;
const MOST_LINKS = 100;

/** What a caller authenticates with: the values of two headers. */
export interface HeldCredentials {
  readonly authorization: string | undefined;
  readonly apiKey: string | undefined;
}

export interface Session {
  readonly id: string;
  /** Sent back by the page with every change: a form of another site cannot know it. */
  readonly csrfToken: string;
  /** Checked again with every call: a key that is revoked ends its sessions. They are in memory only. */
  readonly credentials: HeldCredentials;
  readonly endsMs: number;
  usedMs: number;
}

const random = () => randomBytes(32).toString('base64url');
const isSame = (a: HeldCredentials, b: HeldCredentials) => a.authorization === b.authorization && a.apiKey === b.apiKey;

/** The sessions of browsers and the links that open them, a bounded number of each, in memory: a restart ends them all. */
export class Sessions {
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>();
  readonly #links = new Map<string, { readonly credentials: HeldCredentials; readonly endsMs: number }>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Of one caller and of all, the session that was not used for longest makes room. */
  open(credentials: HeldCredentials): Session {
    const own = [...this.#sessions.values()].filter((one) => isSame(one.credentials, credentials));
    if (own.length >= MOST_OF_ONE) this.#sessions.delete(own[0]!.id);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= MOST_SESSIONS) this.#sessions.delete(oldest!);
    const usedMs = this.#nowMs();
    const session: Session = { id: random(), csrfToken: random(), credentials, endsMs: usedMs + LIFE_MS, usedMs };
    this.#sessions.set(session.id, session);
    return session;
  }

  /** The session of an id, which is in use from now on; null when it has ended. */
  find(id: string): Session | null {
    const session = this.#sessions.get(id);
    if (session === undefined) return null;
    const now = this.#nowMs();
    this.#sessions.delete(id);
    if (now >= session.endsMs || now - session.usedMs >= IDLE_MS) return null;
    session.usedMs = now;
    this.#sessions.set(id, session);
    return session;
  }

  close(id: string): void {
    this.#sessions.delete(id);
  }

  /** A token that opens one session with these credentials, once and soon. */
  link(credentials: HeldCredentials): { token: string; endsMs: number } {
    const now = this.#nowMs();
    for (const [token, { endsMs }] of this.#links) if (endsMs <= now) this.#links.delete(token);
    const [oldest] = this.#links.keys();
    if (this.#links.size >= MOST_LINKS) this.#links.delete(oldest!);
    const token = `${LINK_PREFIX}${random()}`;
    this.#links.set(token, { credentials, endsMs: now + LINK_MS });
    return { token, endsMs: now + LINK_MS };
  }

  /** The credentials behind a link, whose token is void from now on; null for an unknown, used or old one. */
  follow(token: string): HeldCredentials | null {
    const link = this.#links.get(token);
    this.#links.delete(token);
    return link === undefined || link.endsMs <= this.#nowMs() ? null : link.credentials;
  }
}

const LINK_PREFIX = 'login_';

/** The token of a login link in an `authorization` header; null when it holds something else. */
export function linkTokenIn(authorization: string | undefined): string | null {
  const match = /^Bearer (login_[\w-]{43})$/.exec(authorization ?? '');
  return match === null ? null : match[1]!;
}

/** Browsers keep what follows the `#` to themselves: neither servers nor proxies log it. */
export const loginHash = (token: string) => `#login=${token}`;
