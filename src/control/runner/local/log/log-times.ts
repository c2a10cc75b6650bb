import { appendFileSync, readFileSync } from 'node:fs';
import { replacePrivateFile } from '../../../../files/replace-file.js';

/** More are thinned out: the older half keeps every second one, so that recent times stay exact. */
const MOST = 8192;
const ENTRY = /^(\d{1,15}) (\d{1,15})$/;
const START = /^start (\d{1,15})$/;

/** How long a log was at a time, in bytes since its beginning. */
interface Sample {
  readonly at: number;
  readonly end: number;
}

/**
 * When a log had which length: engines write their logs themselves, so lines have no times. Kept in a file beside the log, so that
 * it survives the control plane. A file that cannot be written costs times after a restart, and is tried again.
 */
export class LogTimes {
  readonly #path: string;
  readonly #now: () => number;
  readonly #samples: Sample[] = [];
  /** Where the current file of the log begins; null when that has not been recorded. */
  start: number | null = null;
  #isOnDisk = false;

  constructor(path: string, now: () => number) {
    this.#path = path;
    this.#now = now;
    this.#load();
  }

  /** The length at the last sample. */
  get end(): number {
    return this.#samples.at(-1)?.end ?? 0;
  }

  /** Records that the log has this length now. */
  sample(end: number): void {
    if (end === this.end && this.#isOnDisk) return;
    const sample = { at: this.#now(), end };
    if (end !== this.end) this.#samples.push(sample);
    if (this.#samples.length > MOST) {
      const half = MOST / 2;
      this.#samples.splice(0, half, ...this.#samples.slice(0, half).filter((_, i) => i % 2 === 1));
      this.#isOnDisk = false;
    }
    this.#write(this.#isOnDisk ? sample : null);
  }

  /** The current file begins here from now on. @param oldest where what is left of the log begins */
  rotated(start: number, oldest: number): void {
    this.start = start;
    const gone = this.#samples.findIndex(({ end }) => end > oldest);
    // The last sample before what is left says when that begins.
    if (gone > 1) this.#samples.splice(0, gone - 1);
    this.#write(null);
  }

  /** Where what was written since a time begins, and at most what was written in the second before. */
  since(ms: number): number {
    const later = this.#samples.findIndex(({ at }) => at > ms);
    const before = later === -1 ? this.#samples.length - 1 : later - 1;
    return this.#samples[before]?.end ?? 0;
  }

  /** @param added null: everything is written again */
  #write(added: Sample | null): void {
    const lines = (added === null ? this.#samples : [added]).map(({ at, end }) => `${at} ${end}\n`);
    try {
      if (added !== null) appendFileSync(this.#path, lines[0]!);
      else replacePrivateFile(this.#path, `start ${this.start ?? 0}\n${lines.join('')}`);
      this.#isOnDisk = true;
    } catch {
      // A part of a line may have been written.
      this.#isOnDisk = false;
    }
  }

  #load(): void {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch {
      return;
    }
    // What follows the last newline is incomplete.
    for (const line of text.split('\n').slice(0, -1)) {
      const [, at, end] = ENTRY.exec(line) ?? [];
      if (end !== undefined) this.#samples.push({ at: Number(at), end: Number(end) });
      else this.start = Number(START.exec(line)?.[1] ?? this.start ?? 0);
    }
    this.#isOnDisk = this.start !== null;
  }
}
