import { readFile } from 'node:fs/promises';
import { unreadableKubeFile } from '../errors.js';
import { bearer, type Credential, type Credentials } from './kube-access.js';

/** The kubelet replaces the token of a pod long before it expires, so a minute's delay is safe. */
const FRESH_MS = 60_000;

/** A token in a file that is replaced from time to time, as that of a service account is. */
export class TokenFile implements Credentials {
  readonly #path: string;
  readonly #nowMs: () => number;
  #last: { credential: Credential; atMs: number } | null = null;

  constructor(path: string, nowMs: () => number = Date.now) {
    this.#path = path;
    this.#nowMs = nowMs;
  }

  async read(isRefused: boolean): Promise<Credential> {
    const last = this.#last;
    if (last !== null && !isRefused && this.#nowMs() - last.atMs < FRESH_MS) return last.credential;
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      throw unreadableKubeFile(this.#path, error);
    }
    const credential = bearer(text);
    this.#last = { credential, atMs: this.#nowMs() };
    return credential;
  }
}
