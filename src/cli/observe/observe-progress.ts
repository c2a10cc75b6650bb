import type { ObserveProgress } from '../../observe/drive/observation.js';
import type { CliIo } from '../io.js';

const CLEAR = '\r\x1b[K';
/** The rate of tokens is that of the last seconds. */
const WINDOW_MS = 2000;

export interface ProgressOfObservation {
  update(now: ObserveProgress): void;
  /** Clears the line. */
  end(): void;
}

/** A line on a terminal that is redrawn while requests are sent; null where stderr is not a terminal. */
export function observeProgress(io: CliIo): ProgressOfObservation | null {
  if (io.stderr.isTTY !== true) return null;
  const seen: { ms: number; chunks: number }[] = [];
  return {
    update(now) {
      const ms = io.now();
      seen.push({ ms, chunks: now.chunks });
      while (seen.length > 2 && ms - seen[1]!.ms >= WINDOW_MS) seen.shift();
      const [first] = seen;
      const rate = ms > first!.ms ? ((now.chunks - first!.chunks) * 1000) / (ms - first!.ms) : 0;
      io.stderr.write(`${CLEAR}${fitting(lineOf(now, rate), io.stderr.columns)}`);
    },
    end: () => void io.stderr.write(CLEAR),
  };
}

function lineOf(now: ObserveProgress, rate: number): string {
  const ttft = Number.isNaN(now.ttftP50Ms) ? '-' : `${now.ttftP50Ms.toFixed(0)}/${now.ttftP99Ms.toFixed(0)}`;
  const failed = now.failed === 0 ? '' : `  ${now.failed} failed`;
  return (
    `${now.done} of ${now.planned}  ${now.inFlight} in flight  TTFT p50/p99 ${ttft} ms  ` +
    `${rate.toFixed(0)} tokens/s  late ${now.latenessP99Ms.toFixed(1)} ms${failed}`
  );
}

/** A line that wraps cannot be cleared. */
function fitting(line: string, columns: number | undefined): string {
  return columns === undefined ? line : line.slice(0, Math.max(0, columns - 1));
}
