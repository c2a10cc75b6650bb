/** Less than the pause between two looks of a stream. */
const KEPT_MS = 500;

interface Look {
  readonly atMs: number;
  readonly seen: unknown;
}

/** What streams have just looked at: many streams cost hardly more than one. */
class SharedLooks {
  readonly #nowMs: () => number;
  /** The oldest first. */
  readonly #looks = new Map<string, Look>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** What another stream saw a moment ago, or what `look` returns now. */
  of<Seen>(key: string, look: () => Seen): Seen {
    const atMs = this.#nowMs();
    for (const [old, one] of this.#looks) {
      if (atMs - one.atMs < KEPT_MS) break;
      this.#looks.delete(old);
    }
    const known = this.#looks.get(key);
    if (known !== undefined) return known.seen as Seen;
    const seen = look();
    this.#looks.set(key, { atMs, seen });
    return seen;
  }
}

const all = new WeakMap<object, SharedLooks>();

/** Those of the streams of a gateway. */
export function sharedLooks(gateway: { nowMs(): number }): SharedLooks {
  let looks = all.get(gateway);
  if (looks === undefined) {
    looks = new SharedLooks(() => gateway.nowMs());
    all.set(gateway, looks);
  }
  return looks;
}
