import { closeSync, fstatSync, ftruncateSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LogOptions } from '../../contract.js';
import { lastLines, readPart, type Scrub, shownLine, splitLines } from './last-lines.js';

/** The name of the log in a replica's folder. */
export const LOG = 'log';

const CHUNK = 64 * 1024;
const FOLLOW_MS = 100;
const DEFAULT_LINES = 100;

/**
 * What a replica writes to stdout and stderr. The engine itself holds the file open and appends to it, so it keeps writing when
 * the control plane is gone. A file that has become too long is copied to a second one and truncated; what the engine writes in
 * the microseconds between the two is lost.
 */
export class ReplicaLog {
  readonly path: string;
  /** Set when nothing more will be written: followers then end after the last line. */
  isOver = false;
  readonly #older: string;
  readonly #mostBytes: number;
  #rotations = 0;
  /** The offset in the last rotated file at which its copy begins. */
  #cut = 0;

  readonly #scrub: Scrub;

  constructor(folder: string, mostBytes: number, scrub: Scrub) {
    this.#scrub = scrub;
    this.path = join(folder, LOG);
    this.#older = `${this.path}.1`;
    this.#mostBytes = mostBytes;
  }

  /** The last lines, including an incomplete one. */
  async last(count: number): Promise<string[]> {
    const { lines, rest } = await lastLines([this.#older, this.path], count, this.#scrub);
    return (rest.length === 0 ? lines : [...lines, shownLine(rest, this.#scrub)]).slice(-count);
  }

  async *read({ follow = false, lines = DEFAULT_LINES, signal }: LogOptions): AsyncGenerator<string> {
    if (!follow) yield* lines === 0 ? [] : await this.last(lines);
    else yield* this.#follow(lines, signal);
  }

  /** Moves a file that is too long out of the way. Of one that grew far too long while no control plane ran, the end is kept. */
  rotateIfLong(): void {
    const fd = openSync(this.path, 'r+');
    try {
      const { size } = fstatSync(fd);
      if (size <= this.#mostBytes) return;
      const cut = Math.max(0, size - 2 * this.#mostBytes);
      const copy = openSync(`${this.#older}.new`, 'w', 0o600);
      try {
        const copied = copyFrom(fd, cut, copy);
        renameSync(`${this.#older}.new`, this.#older);
        copyFrom(fd, copied, copy);
        ftruncateSync(fd, 0);
      } finally {
        closeSync(copy);
      }
      this.#cut = cut;
      this.#rotations++;
    } finally {
      closeSync(fd);
    }
  }

  async *#follow(count: number, signal: AbortSignal | undefined): AsyncGenerator<string> {
    // Held open, it can be read to its end even after the replica's folder has been removed.
    const file = await open(this.path, 'r');
    try {
      let seen = this.#rotations;
      let at = (await file.stat()).size;
      const before = await lastLines([this.#older, this.path], count, this.#scrub, at);
      yield* before.lines;
      let rest = before.rest;
      while (!signal?.aborted) {
        const isLast = this.isOver;
        const pieces = [rest];
        if (seen !== this.#rotations) {
          pieces.push(await this.#restOfOlder(seen === this.#rotations - 1 ? at - this.#cut : 0));
          seen = this.#rotations;
          at = 0;
        }
        const { size } = await file.stat();
        const news = await readPart(file, at, Math.max(at, size));
        // Bytes read during a rotation may be of the old text or of the new.
        const rotatedMeanwhile = seen !== this.#rotations;
        if (!rotatedMeanwhile) at += news.length;
        const split = splitLines(Buffer.concat(rotatedMeanwhile ? pieces : [...pieces, news]), this.#scrub);
        yield* split.lines;
        rest = split.rest;
        if (rotatedMeanwhile) continue;
        if (isLast) break;
        await delay(FOLLOW_MS, undefined, { signal }).catch(() => {});
      }
      if (rest.length > 0 && !signal?.aborted) yield shownLine(rest, this.#scrub);
    } finally {
      await file.close();
    }
  }

  async #restOfOlder(from: number): Promise<Buffer> {
    const file = await open(this.#older, 'r').catch(() => null);
    if (file === null) return Buffer.alloc(0);
    try {
      return await readPart(file, Math.max(0, from), Math.max(0, from, (await file.stat()).size));
    } finally {
      await file.close();
    }
  }
}

/** Copies a file from an offset to its end; returns the end. */
function copyFrom(from: number, at: number, to: number): number {
  const chunk = Buffer.alloc(CHUNK);
  for (let place = at; ; ) {
    const length = readSync(from, chunk, 0, CHUNK, place);
    if (length === 0) return place;
    writeSync(to, chunk, 0, length);
    place += length;
  }
}
