import type { Clock } from '../contract.js';

export interface DownloadProgress {
  /** `waiting` for another process that is downloading the same model. */
  readonly phase: 'waiting' | 'downloading' | 'publishing';
  readonly bytes: number;
  readonly totalBytes: number;
  /** Over the last seconds; 0 when nothing has come yet. Bytes that were there already do not count. */
  readonly bytesPerSecond: number;
  readonly files: number;
  readonly totalFiles: number;
  /** For how long nothing has come, once that is long; 0 before. */
  readonly quietMs: number;
}

export type OnProgress = (progress: DownloadProgress) => void;

/** How often it is told at most, and how far back the speed looks. */
const TELL_MS = 250;
const SAMPLE_MS = 1000;
const SAMPLES = 10;
/** How long nothing may come before that is told, and how often it is told again. */
const QUIET_MS = 10_000;

/**
 * Counts what comes in and tells of it: every quarter of a second, whenever a file or a phase is over, and also when nothing comes
 * while something should.
 */
export class TransferProgress {
  readonly #clock: Clock;
  readonly #tell: OnProgress;
  readonly #total: { bytes: number; files: number };
  #phase: DownloadProgress['phase'] = 'downloading';
  #bytes = 0;
  #files = 0;
  #received = 0;
  #toldAt = Number.NEGATIVE_INFINITY;
  #movedAt: number;
  #forgetQuiet: () => void = () => {};
  /** How much had been received when, oldest first. */
  readonly #samples: { at: number; received: number }[];

  constructor(total: { bytes: number; files: number }, clock: Clock, tell: OnProgress) {
    this.#total = total;
    this.#clock = clock;
    this.#tell = tell;
    this.#movedAt = clock.now();
    this.#samples = [{ at: this.#movedAt, received: 0 }];
  }

  phase(phase: DownloadProgress['phase']): void {
    const now = this.#clock.now();
    this.#phase = phase;
    this.end();
    if (phase === 'downloading') {
      this.#movedAt = now;
      this.#tellQuietAfter(QUIET_MS);
    }
    this.#report(now);
  }

  /** Nothing is waited for any more. */
  end(): void {
    this.#forgetQuiet();
  }

  /** @param received whether they came from the registry just now */
  count(change: number, received: boolean): void {
    const now = this.#clock.now();
    this.#movedAt = now;
    this.#bytes += change;
    if (received) this.#received += change;
    if (now - this.#samples.at(-1)!.at >= SAMPLE_MS) {
      this.#samples.push({ at: now, received: this.#received });
      if (this.#samples.length > SAMPLES) this.#samples.shift();
    }
    if (now - this.#toldAt >= TELL_MS) this.#report(now);
  }

  fileDone(): void {
    this.#files++;
    this.#report(this.#clock.now());
  }

  #tellQuietAfter(ms: number): void {
    this.#forgetQuiet = this.#clock.after(ms, () => {
      const now = this.#clock.now();
      const quietMs = this.#quietMs(now);
      if (quietMs > 0) this.#report(now);
      this.#tellQuietAfter(quietMs > 0 ? QUIET_MS : this.#movedAt + QUIET_MS - now);
    });
  }

  #quietMs(now: number): number {
    const quietMs = now - this.#movedAt;
    return this.#phase === 'downloading' && quietMs >= QUIET_MS ? quietMs : 0;
  }

  #report(now: number): void {
    this.#toldAt = now;
    const { at, received } = this.#samples[0]!;
    this.#tell({
      phase: this.#phase,
      bytes: this.#bytes,
      totalBytes: this.#total.bytes,
      bytesPerSecond: now > at ? Math.round(((this.#received - received) * 1000) / (now - at)) : 0,
      files: this.#files,
      totalFiles: this.#total.files,
      quietMs: this.#quietMs(now),
    });
  }
}
