import type { ExperimentProgress } from '../../experiment/run-experiment.js';
import { bar } from '../../report/text/bar.js';
import type { CliIo } from '../io.js';

const REDRAW_MS = 100;
const WIDTH = 24;
const CLEAR = '\r\x1b[K';

/** A bar on a terminal's stderr with how many runs are done and how long the others will take; nothing anywhere else. */
export function createExperimentProgress(io: CliIo): {
  update(state: ExperimentProgress, status?: string): void;
  end(): void;
} {
  if (io.stderr.isTTY !== true) return { update: () => {}, end: () => {} };
  const started = io.now();
  let drawn = Number.NEGATIVE_INFINITY;
  return {
    update({ done, total, computed }, status = '') {
      const now = io.now();
      if (now - drawn < REDRAW_MS && done < total) return;
      drawn = now;
      const left = computed === 0 ? '' : `  ${seconds(((now - started) / computed) * (total - done))} left`;
      io.stderr.write(
        `${CLEAR}${bar(done / total, WIDTH)}  ${done} of ${total} runs${left}${status === '' ? '' : `  ${status}`}`,
      );
    },
    end() {
      if (drawn > Number.NEGATIVE_INFINITY) io.stderr.write(CLEAR);
    },
  };
}

/** `12 s`, `3 min`. */
function seconds(ms: number): string {
  const s = Math.ceil(ms / 1000);
  return s < 120 ? `${s} s` : `${Math.ceil(s / 60)} min`;
}
