import type { Credential, Credentials } from './kube-access.js';

/** A login command or a certificate manager replaces files now and then; a minute's delay is safe. */
const FRESH_MS = 60_000;

/** A credential that stands in files: read again after a minute, and when it was refused. */
export class FileCredential implements Credentials {
  readonly #readFiles: () => Credential;
  readonly #nowMs: () => number;
  #last: Credential;
  #atMs: number;

  /** @param readFiles throws while they cannot be read; then what was read last is used */
  constructor(readFiles: () => Credential, nowMs: () => number = Date.now) {
    this.#readFiles = readFiles;
    this.#nowMs = nowMs;
    this.#last = readFiles();
    this.#atMs = nowMs();
  }

  read(isRefused: boolean): Promise<Credential> {
    if (isRefused || this.#nowMs() - this.#atMs >= FRESH_MS) {
      this.#atMs = this.#nowMs();
      try {
        this.#last = this.#readFiles();
      } catch {
        // Being replaced.
      }
    }
    return Promise.resolve(this.#last);
  }
}
