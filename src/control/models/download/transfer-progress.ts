import type { Clock } from '../contract.js';

export interface DownloadProgress {
  /** `waiting`: another process is downloading the same model. */
  readonly phase: 'waiting' | 'downloading' | 'publishing';
  readonly bytes: number;
  readonly totalBytes: number;
  /** Over the last seconds; 0 before the first byte. Bytes of an earlier download do not count. */
  readonly bytesPerSecond: number;
  readonly files: number;
  readonly totalFiles: number;
  /** How long no byte has arrived, once that is notable; 0 before. */
  readonly quietMs: number;
}

export type OnProgress = (progress: DownloadProgress) => void;

/** The shortest interval of reports, and the window of the speed. */
const REPORT_MS = 250;
const SAMPLE_MS = 1000;
const SAMPLES = 10;
/** How long no byte may arrive before that is reported, and how often it is reported again. */
const QUIET_MS = 10_000;

/**
 * Counts the bytes of a download and reports them: every quarter of a second, when a file or a phase ends, and when no data arrives.
 */
export class TransferProgress {
  readonly #clock: Clock;
  readonly #onProgress: OnProgress;
  readonly #total: { bytes: number; files: number };
  #phase: DownloadProgress['phase'] = 'downloading';
  #bytes = 0;
  #files = 0;
  #received = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #movedAt: number;
  #cancelQuiet: () => void = () => {};
  /** Bytes received over time, oldest first. */
  readonly #samples: { at: number; received: number }[];

  constructor(total: { bytes: number; files: number }, clock: Clock, onProgress: OnProgress) {
    this.#total = total;
    this.#clock = clock;
    this.#onProgress = onProgress;
    this.#movedAt = clock.now();
    this.#samples = [{ at: this.#movedAt, received: 0 }];
  }

  phase(phase: DownloadProgress['phase']): void {
    const now = this.#clock.now();
    this.#phase = phase;
    this.end();
    if (phase === 'downloading') {
      this.#movedAt = now;
      this.#reportQuietAfter(QUIET_MS);
    }
    this.#report(now);
  }

  /** Stops reporting that no data arrives. */
  end(): void {
    this.#cancelQuiet();
  }

  /** @param received from the registry, rather than found from an earlier download */
  count(change: number, received: boolean): void {
    const now = this.#clock.now();
    this.#movedAt = now;
    this.#bytes += change;
    if (received) this.#received += change;
    if (now - this.#samples.at(-1)!.at >= SAMPLE_MS) {
      this.#samples.push({ at: now, received: this.#received });
      if (this.#samples.length > SAMPLES) this.#samples.shift();
    }
    if (now - this.#reportedAt >= REPORT_MS) this.#report(now);
  }

  fileDone(): void {
    this.#files++;
    this.#report(this.#clock.now());
  }

  #reportQuietAfter(ms: number): void {
    this.#cancelQuiet = this.#clock.after(ms, () => {
      const now = this.#clock.now();
      const quietMs = this.#quietMs(now);
      if (quietMs > 0) this.#report(now);
      this.#reportQuietAfter(quietMs > 0 ? QUIET_MS : this.#movedAt + QUIET_MS - now);
    });
  }

  #quietMs(now: number): number {
    const quietMs = now - this.#movedAt;
    return this.#phase === 'downloading' && quietMs >= QUIET_MS ? quietMs : 0;
  }

  #report(now: number): void {
    this.#reportedAt = now;
    const { at, received } = this.#samples[0]!;
    this.#onProgress({
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
