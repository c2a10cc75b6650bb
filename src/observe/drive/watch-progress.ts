import { percentile } from '../../kernel/percentile.js';
import type { ObserveProgress } from './observation.js';
import type { LoadDriver } from './send/load-driver.js';

const INTERVAL_MS = 200;

/** Reports the progress of a run at intervals, until the returned function is called. */
export function watchProgress(
  driver: LoadDriver,
  expected: number | undefined,
  tell: (now: ObserveProgress) => void,
): () => void {
  const look = () => tell(progressOf(driver, expected));
  const timer = setInterval(look, INTERVAL_MS);
  return () => {
    clearInterval(timer);
    look();
  };
}

function progressOf({ inFlight, live, planned }: LoadDriver, expected: number | undefined): ObserveProgress {
  const ttft = ascending(live.recentTtftUs);
  return {
    planned: Math.max(planned, expected ?? 0),
    done: live.ended,
    failed: live.failed,
    inFlight,
    ttftP50Ms: ttft.length === 0 ? Number.NaN : percentile(ttft, 50) / 1000,
    ttftP99Ms: ttft.length === 0 ? Number.NaN : percentile(ttft, 99) / 1000,
    latenessP99Ms: percentile(ascending(live.recentLatenessUs), 99) / 1000,
    chunks: live.chunks,
  };
}

function ascending(values: readonly number[]): Float64Array {
  return Float64Array.from(values).sort();
}
