import { get } from 'node:http';

export interface ReadinessTiming {
  /** From one response to the next question. */
  readonly everyMs: number;
  /** A response that takes longer is none. */
  readonly timeoutMs: number;
  /** After so many bad answers in a row a replica that was ready is so no more. */
  readonly failures: number;
}

/** Asks a replica again and again whether it is ready, and tells when that changes. */
export class Readiness {
  isReady = false;
  readonly #ask: () => Promise<boolean>;
  readonly #timing: ReadinessTiming;
  readonly #changed: (isReady: boolean) => void;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(ask: () => Promise<boolean>, timing: ReadinessTiming, changed: (isReady: boolean) => void) {
    this.#ask = ask;
    this.#timing = timing;
    this.#changed = changed;
  }

  /** Resolves after the first response; asks on until it is stopped. */
  async start(): Promise<void> {
    const isWell = await this.#ask();
    if (this.#isStopped) return;
    this.#failures = isWell ? 0 : this.#failures + 1;
    if (isWell !== this.isReady && (isWell || this.#failures >= this.#timing.failures)) {
      this.isReady = isWell;
      this.#changed(isWell);
    }
    // The listener may have stopped it.
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.start(), this.#timing.everyMs);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }
}

/** Whether a page is there, with a status of 2xx. Each question has a connection of its own: an old one proves nothing. */
export function responds(url: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      const { statusCode = 0 } = response;
      resolve(statusCode >= 200 && statusCode < 300);
      request.destroy();
    });
    request.on('error', () => resolve(false));
  });
}
