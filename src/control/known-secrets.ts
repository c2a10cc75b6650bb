import type { Secrets } from './store/sealed-spec.js';

/** Shorter ones would hide ordinary words. Also the length by which the beginning of a secret is recognised. */
const LEAST = 8;
const MASK = '***';
/** The store has only hashes of API keys: they are recognised by their form, also where a line was cut inside. */
const API_KEYS = /ty_[a-z0-9]{12}_[A-Za-z0-9_-]{8,43}/g;

/** Of secrets with the same beginning: more of them are not compared one by one. */
const MOST_ALIKE = 64;

/**
 * The secrets that may be in logs: the admin token, and every secret of a resource that was decrypted here, so every one that a
 * replica was given. One that was only sent, as by a dry run, is not among them. They are removed from the logs of replicas, where an engine may print them by accident. A
 * program that wants to disclose a secret can write it in a form that is not recognised.
 */
export class KnownSecrets {
  /**
   * By their first characters, the longest first: a line takes as long for thousands of secrets as for one. Null where too many
   * begin alike: what begins so is then masked to the end of its line.
   */
  readonly #byStart = new Map<string, string[] | null>();

  add(secret: string): void {
    // A line at a time is what a log shows.
    for (const line of [secret, ...secret.split(/\r?\n/)].map((one) => one.trim())) {
      if (line.length < LEAST) continue;
      const escaped = JSON.stringify(line).slice(1, -1);
      for (const form of [
        line,
        escaped,
        encodeURIComponent(Buffer.from(line).toString()),
        Buffer.from(line).toString('base64'),
      ]) {
        this.#addForm(form);
      }
    }
  }

  /** A line without them. An end that is the beginning of a secret is masked too: the line may have been cut there. */
  readonly scrub = (line: string): string => {
    let clean = '';
    let from = 0;
    for (let i = 0; i + LEAST <= line.length; ) {
      const some = this.#byStart.get(line.slice(i, i + LEAST));
      const found = some?.find((one) => line.startsWith(one, i)) ?? some?.find((one) => one.startsWith(line.slice(i)));
      const length = some === null ? line.length : (found?.length ?? 0);
      if (length === 0) i++;
      else {
        clean += line.slice(from, i) + MASK;
        i = Math.min(i + length, line.length);
        from = i;
      }
    }
    return (clean + line.slice(from)).replaceAll(API_KEYS, MASK);
  };

  /** The same box, with every secret that it decrypts known from then on. */
  remembering(box: Secrets): Secrets {
    return {
      seal: (text, place) => box.seal(text, place),
      unseal: (sealed, place) => {
        const text = box.unseal(sealed, place);
        this.add(text);
        return text;
      },
      holds: (sealed, text, place) => box.holds(sealed, text, place),
    };
  }

  #addForm(form: string): void {
    const start = form.slice(0, LEAST);
    const known = this.#byStart.get(start);
    if (known === null || known?.includes(form)) return;
    const some = [...(known ?? []), form].sort((a, b) => b.length - a.length);
    this.#byStart.set(start, some.length > MOST_ALIKE ? null : some);
  }
}
