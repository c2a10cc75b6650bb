import type { FitProgress } from '../../observe/fit/fit-profile.js';
import type { CliIo } from '../io.js';

const REDRAW_MS = 100;
const CLEAR = '\r\x1b[K';

/** One line on a terminal's stderr that is rewritten while a fit goes on; nothing anywhere else. */
export function createFitProgress(io: CliIo): { update: FitProgress; end(): void } {
  if (io.stderr.isTTY !== true) return { update: () => {}, end: () => {} };
  let drawn = Number.NEGATIVE_INFINITY;
  return {
    update(stage, tries, loss) {
      const now = io.now();
      if (now - drawn < REDRAW_MS) return;
      drawn = now;
      const far = stage === 'steps' ? 'steps' : `requests, ${tries} simulations, ${loss.toPrecision(4)} unexplained`;
      io.stderr.write(`${CLEAR}fitting ${far}`);
    },
    end() {
      if (drawn > Number.NEGATIVE_INFINITY) io.stderr.write(CLEAR);
    },
  };
}
