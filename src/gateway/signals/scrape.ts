import { measuredEngine } from '../../engines/registry.js';
import { type EngineReport, type EngineSignals, missingSignals } from '../../engines/signals.js';
import { readSamples } from '../../protocol/prometheus/read-samples.js';
import type { PageLimits, ReplicaPage } from '../upstream/page-client.js';
import type { ReplicaSignals } from './replica-signals.js';

/** Larger than the metrics of any engine. */
const MOST_BYTES = 8 * 1024 * 1024;

/** A replica as far as its metrics are concerned. */
export interface ScrapedReplica {
  readonly id: string;
  readonly engine: string;
  readonly loadPath: string;
  page(path: string, limits: PageLimits): Promise<ReplicaPage>;
}

/** Reads the metrics of a replica; throws when there are none. */
export async function scrape(replica: ScrapedReplica, timeoutMs: number, nowUs: () => number): Promise<ReplicaSignals> {
  const { signals } = measuredEngine(replica.engine, replica.id);
  const report = signals.read(readSamples(await text(replica, replica.loadPath, timeoutMs)));
  if (signals.extra !== undefined) await readExtra(replica, signals.extra, report, timeoutMs);
  return { atUs: nowUs(), ...report, missing: missingSignals(signals, report) };
}

/** Without the document its signals stay missing; the metrics count all the same. */
async function readExtra(
  replica: ScrapedReplica,
  extra: NonNullable<EngineSignals['extra']>,
  report: EngineReport,
  timeoutMs: number,
): Promise<void> {
  try {
    extra.read(JSON.parse(await text(replica, extra.path, timeoutMs)), report);
  } catch {
    // The caller counts it as a missing signal.
  }
}

async function text(replica: ScrapedReplica, path: string, timeoutMs: number): Promise<string> {
  const { status, text } = await replica.page(path, { timeoutMs, mostBytes: MOST_BYTES });
  if (status !== 200) throw new Error(`${path} returned status ${status}`);
  return text;
}
