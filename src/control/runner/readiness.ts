import { getStatus } from '../../protocol/http-client/get-status.js';

export interface ReadinessTiming {
  /** From one response to the next check. */
  readonly everyMs: number;
  /** A slower response counts as a failure. */
  readonly timeoutMs: number;
  /** Consecutive failures after which a ready replica becomes unready. */
  readonly failures: number;
}

/** Checks a replica periodically and reports when its readiness changes. */
export class Readiness {
  isReady = false;
  readonly #check: () => Promise<boolean>;
  readonly #timing: ReadinessTiming;
  readonly #changed: (isReady: boolean) => void;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(check: () => Promise<boolean>, timing: ReadinessTiming, changed: (isReady: boolean) => void) {
    this.#check = check;
    this.#timing = timing;
    this.#changed = changed;
  }

  /** Resolves after the first check; continues until it is stopped. */
  async start(): Promise<void> {
    const isWell = await this.#check();
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

/** Whether a path responds with a status of 2xx. Each check opens its own connection: an old one proves nothing. */
export async function responds(url: string, timeoutMs: number): Promise<boolean> {
  const status = await getStatus(url, timeoutMs).catch(() => 0);
  return status >= 200 && status < 300;
}
