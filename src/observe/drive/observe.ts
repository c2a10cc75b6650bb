import { randomInt } from 'node:crypto';
import { warmUpTooLong } from './client/errors.js';
import { MetricsScraper } from './client/metrics-scraper.js';
import { ServerClient } from './client/server-client.js';
import { finishObservation } from './finish-observation.js';
import type { Observation, ObservedServer, ObserveOptions, ObservePlan, ObserveProgress } from './observation.js';
import { prepareRun } from './prepare-run.js';
import { FORMAT_PATHS } from './prompts/prompt-turns.js';
import { ChunkTimes } from './send/chunk-times.js';
import { LoadDriver } from './send/load-driver.js';
import { prewarm } from './send/prewarm.js';
import { MachineClock } from './send/send-clock.js';
import { watchProgress } from './watch-progress.js';

const LARGEST_SALT = 2 ** 47;

/**
 * Sends the requests of a plan to a server and measures the responses. Throws when the server cannot be measured at
 * all; any later problem is part of the observation. After `signal` nothing more is sent, and the measurements so far
 * are returned, marked as partial.
 */
export async function observe(
  plan: ObservePlan,
  server: ObservedServer,
  options: ObserveOptions,
  progress: ((now: ObserveProgress) => void) | null = null,
  signal: AbortSignal = new AbortController().signal,
): Promise<Observation> {
  checkWarmUp(plan, options.warmUpRequests);
  const client = new ServerClient(server);
  try {
    const prepared = await prepareRun(plan, server, options, client, options.salt ?? randomInt(LARGEST_SALT));
    options.begun?.();
    const { prompts, writer } = prepared;
    const { maxConcurrency, streaming: isStream, timeoutUs } = options;
    const path = FORMAT_PATHS[options.apiFormat];
    const newClock = options.clock ?? (() => new MachineClock());
    if (options.prewarmUs > 0) {
      const sending = { client, writer, clock: newClock(), path, isStream, timeoutUs, maxConcurrency };
      await prewarm({ ...sending, rows: plan.workload.table.count, durationUs: options.prewarmUs }, signal);
    }
    const chunkTimes = options.recordItl ? new ChunkTimes() : null;
    const driver = new LoadDriver(
      { workload: plan.workload, client, prompts, writer, chunkTimes },
      {
        ...{ path, isStream, maxConcurrency, timeoutUs },
        isConstrained: options.constrained,
        warmUpRequests: options.warmUpRequests,
        horizonUs: plan.horizonUs ?? Number.POSITIVE_INFINITY,
      },
    );
    const { scrapeIntervalMs } = options;
    const scraper = scrapeIntervalMs === null ? null : new MetricsScraper(client, scrapeIntervalMs);
    await scraper?.begin();
    driver.prepare();
    const clock = newClock();
    const epochUs = Math.round(Date.now() * 1000 - clock.nowUs());
    const endWatch = progress === null ? () => {} : watchProgress(driver, plan.expected, progress);
    const stop = () => driver.stop();
    signal.addEventListener('abort', stop);
    try {
      if (!signal.aborted) await driver.run(clock);
    } finally {
      signal.removeEventListener('abort', stop);
      endWatch();
      await scraper?.end();
    }
    const isInterrupted = signal.aborted;
    const metrics = scraper?.samples ?? [];
    return finishObservation({
      ...{ plan, server, options, prepared, driver, chunkTimes, metrics, epochUs, isInterrupted },
    });
  } finally {
    await client.close();
  }
}

/** Refuses a warm-up longer than the plan, unless later turns make further requests and their number is not known. */
function checkWarmUp({ expected, workload }: ObservePlan, warmUp: number): void {
  const { sessions, table } = workload;
  if (sessions !== undefined && expected === undefined) return;
  const planned = Math.max(table.count, expected ?? 0);
  if (warmUp > planned) throw warmUpTooLong(warmUp, planned);
}
