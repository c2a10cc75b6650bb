import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterCalls, PodLogQuery } from './cluster-calls.js';
import type { ReplicaPod } from './manifests/deployment.js';
import { type ContainerEnd, hasLog } from './pod-state.js';

const NEWLINE = 0x0a;
/** Longer lines are cut: a progress bar without line ends is one line. */
const MOST_LINE_BYTES = 64 * 1024;

/** How many of the last lines are read where neither a number nor a time is given. */
export const LOG_LINES = 100;

export const logQuery = (follow: boolean, since?: number, tail?: number): PodLogQuery => ({
  tailLines: tail ?? (since === undefined ? LOG_LINES : null),
  sinceTime: since === undefined ? null : new Date(since).toISOString(),
  follow,
  previous: false,
});

/** The lines of a log as they arrive. */
export async function* logLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, from)) {
      yield rest.toString('utf8', from, end);
      from = end + 1;
    }
    rest = rest.subarray(from);
    if (rest.length < MOST_LINE_BYTES) continue;
    yield rest.toString('utf8');
    rest = Buffer.alloc(0);
  }
  if (rest.length > 0) yield rest.toString('utf8');
}

const LAST_LINES = 20;
const MOST_LENGTH = 2000;
/** How long the log of a pod that has gone may take to end. */
const LOG_END_MS = 2000;

export interface PodTailParts {
  readonly calls: ClusterCalls;
  readonly closed: AbortSignal;
  readonly scrub: (line: string) => string;
}

/** The end of a replica's log, which goes with its pod: a pod that is being ended is followed. */
export class PodTail {
  #followed: Promise<string[]> | null = null;

  constructor(private readonly parts: PodTailParts) {}

  follow(pod: ReplicaPod): void {
    if (hasLog(pod)) this.#followed ??= this.#linesOf(pod, true, false);
  }

  /** Where the log cannot be read, what the kubelet has kept of it with the status. */
  async read(pod: ReplicaPod | null, end: ContainerEnd | null): Promise<string[]> {
    const once = pod === null || !hasLog(pod) ? null : () => this.#linesOf(pod, false, end?.isPrevious ?? false);
    const late = delay(LOG_END_MS, [] as string[], { ref: false });
    const read = await Promise.race([this.#followed ?? once?.() ?? [], late]);
    const lines = read.length > 0 ? read : (end?.message ?? '').split('\n').filter(Boolean).slice(-LAST_LINES);
    return lines.map((line) => this.parts.scrub(line).slice(0, MOST_LENGTH));
  }

  async #linesOf({ metadata }: ReplicaPod, follow: boolean, previous: boolean): Promise<string[]> {
    const { calls, closed } = this.parts;
    const lines: string[] = [];
    try {
      const log = await calls.podLog(metadata.name, { tailLines: LAST_LINES, follow, previous }, closed);
      for await (const line of logLines(log)) {
        lines.push(line);
        if (lines.length > LAST_LINES) lines.shift();
      }
    } catch {
      // The pod has gone, or its node cannot be reached.
    }
    return lines;
  }
}
