import type { CliIo } from '../io.js';

/** A run shorter than this needs no progress. */
const QUIET_MS = 1000;
const REDRAW_MS = 100;
const CLEAR = '\r\x1b[K';

export interface ProgressLine {
  update(done: number, known: number): void;
  /** Clears the line. */
  end(): void;
}

/** A line on a terminal's stderr that is redrawn during a long run; nothing where stderr is not a terminal. */
export function createProgressLine(io: CliIo): ProgressLine {
  if (io.stderr.isTTY !== true) return { update: () => {}, end: () => {} };
  const started = io.now();
  let drawn = Number.NEGATIVE_INFINITY;
  return {
    update(done, known) {
      const now = io.now();
      if (now - started < QUIET_MS || now - drawn < REDRAW_MS) return;
      drawn = now;
      const percent = known === 0 ? 0 : Math.floor((100 * done) / known);
      const seconds = ((now - started) / 1000).toFixed(1);
      io.stderr.write(`${CLEAR}${percent} %  ${done} of ${known} requests  ${seconds} s`);
    },
    end() {
      if (drawn > Number.NEGATIVE_INFINITY) io.stderr.write(CLEAR);
    },
  };
}
