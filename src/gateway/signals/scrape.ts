import { readSamples } from '../../protocol/prometheus-text.js';
import type { LiveReplica } from '../fleet/live-replica.js';
import { ask } from '../upstream/ask.js';
import { type Engine, type EngineReport, missingSignals } from './engine.js';
import { engineNamed } from './registry.js';
import type { ReplicaSignals } from './replica-signals.js';

/** No exposition of an engine is larger. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Asks a replica for its metrics; throws when it gives none. */
export async function scrape(replica: LiveReplica, timeoutMs: number, nowUs: () => number): Promise<ReplicaSignals> {
  const engine = engineNamed(replica.engine, replica.id);
  const report = engine.read(readSamples(await text(replica, replica.loadPath, timeoutMs)));
  if (engine.extra !== undefined) await readExtra(replica, engine.extra, report, timeoutMs);
  return { atUs: nowUs(), ...report, missing: missingSignals(engine, report) };
}

/** What the document would have said stays missing when it is not there: the rest counts all the same. */
async function readExtra(
  replica: LiveReplica,
  extra: NonNullable<Engine['extra']>,
  report: EngineReport,
  timeoutMs: number,
): Promise<void> {
  try {
    extra.read(JSON.parse(await text(replica, extra.path, timeoutMs)), report);
  } catch {
    // Counted as a missing signal by whoever asked.
  }
}

async function text(replica: LiveReplica, path: string, timeoutMs: number): Promise<string> {
  const { status, text } = await ask(replica.questions, path, { timeoutMs, mostBytes: MOST_BYTES });
  if (status !== 200) throw new Error(`${path} says ${status}`);
  return text;
}
