import { setTimeout as delay } from 'node:timers/promises';
import type { RayJobs } from '../../../ray/ray-jobs.js';
import type { LogOptions } from '../contract.js';
import { type Scrub, shownLine } from '../local/log/shown-line.js';
import { type EngineLine, type ReplicaLines, replicaLines } from './replica-lines.js';

export interface ReplicaLogParts {
  readonly jobs: RayJobs;
  readonly submissionId: string;
  readonly nodeId: string;
  readonly scrub: Scrub;
}

/** How many of the last lines are read where neither a number nor a time is given. */
const LOG_LINES = 100;
/** A read that continues is short; it is repeated with more lines when there are new ones before it. */
const SOME_LINES = 200;
const MOST_LINES = 10_000;
/** Lines of Ray and of the replica's program between those of the engine. */
const OTHER_LINES = 20;

/** Lines that an engine seldom exceeds before its address is looked for. */
const START_LINES = 1000;
/** Lines among which the end of a replica is looked for: it is the last one. */
const END_LINES = 200;
/** How long the last lines of a job may come after its end. */
const LAST_WORDS_MS = 3000;

export const NO_LINES: ReplicaLines = { engine: [], report: {}, others: [] };

/** How long a log is followed. */
export interface LogFollowing {
  readonly ends: AbortSignal;
  /** The replica has exited. */
  readonly isOver: () => boolean;
  /** Until there may be more. */
  readonly wait: () => Promise<void>;
}

/** The log of one replica. Ray returns the last lines of a file. */
export class RayLog {
  constructor(private readonly parts: ReplicaLogParts) {}

  /** The last lines of the file, by who wrote them. */
  async tail(lines: number): Promise<ReplicaLines> {
    const { jobs, nodeId, submissionId } = this.parts;
    return replicaLines(await jobs.logTail(submissionId, nodeId, lines));
  }

  /** The first lines of the file, with the report of the address. */
  async head(): Promise<ReplicaLines> {
    const { jobs, nodeId, submissionId } = this.parts;
    const lines = await this.tail(START_LINES);
    const isCut = lines.report.port === undefined && lines.engine.length > START_LINES - OTHER_LINES;
    return isCut ? replicaLines(await jobs.logHead(submissionId, nodeId)) : lines;
  }

  /** As `Runner.logs`. */
  async *read(options: LogOptions, { ends, isOver, wait }: LogFollowing): AsyncGenerator<string> {
    const { cursor, follow = false } = options;
    let last = Number(cursor?.position ?? 0);
    for (let isFirst = true; ; isFirst = false) {
      // Before the read: what is written until the end is read then.
      const isLast = !follow || isOver();
      for (const line of isFirst ? await this.#first(options) : await this.#after(last)) {
        if (ends.aborted) return;
        last = line.number;
        if (cursor !== undefined) cursor.position = String(last);
        yield shownLine(Buffer.from(line.text), this.parts.scrub);
      }
      if (isLast || ends.aborted) return;
      await wait();
    }
  }

  /**
   * The end of the log. A program that Ray has killed writes how the engine ended a moment later.
   * @param isBegun its program has reported its address
   */
  async lastWords(isBegun: boolean, { closed, followMs }: { closed: AbortSignal; followMs: number }) {
    const by = Date.now() + LAST_WORDS_MS;
    for (;;) {
      const lines = await this.tail(END_LINES).catch(() => null);
      if (lines === null || (lines.engine.length === 0 && lines.others.length === 0)) return lines ?? NO_LINES;
      const { code, port, problem, signal } = lines.report;
      const isComplete = code !== undefined || signal !== undefined || problem !== undefined;
      const isExpected = isBegun || port !== undefined;
      if (isComplete || !isExpected || Date.now() > by || closed.aborted) return lines;
      await delay(followMs);
    }
  }

  async #first({ cursor, since, tail }: LogOptions): Promise<EngineLine[]> {
    const position = cursor?.position ?? null;
    if (position !== null) return this.#after(Number(position));
    const most = tail ?? (since === undefined ? LOG_LINES : MOST_LINES);
    if (most === 0) return [];
    const { engine } = await this.tail(Math.min(most, MOST_LINES) + OTHER_LINES);
    return engine.filter(({ at }) => since === undefined || at >= since).slice(-most);
  }

  /** The lines behind one. Those that are too many are lost: the oldest. */
  async #after(number: number): Promise<EngineLine[]> {
    let { engine } = await this.tail(SOME_LINES);
    const isWhole = engine.length < SOME_LINES - OTHER_LINES || (engine[0]?.number ?? 0) <= number + 1;
    if (!isWhole) ({ engine } = await this.tail(MOST_LINES));
    return engine.filter((line) => line.number > number);
  }
}
