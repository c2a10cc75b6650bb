import type { LiveReplica } from '../fleet/live-replica.js';
import { type Engine, type EngineReport, missingSignals } from './engine.js';
import { readSamples } from './prometheus-text.js';
import { engineNamed } from './registry.js';
import type { ReplicaSignals } from './replica-signals.js';

/** No exposition of an engine is larger. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Asks a replica for its metrics; throws when it gives none. */
export async function scrape(replica: LiveReplica, timeoutMs: number, nowUs: () => number): Promise<ReplicaSignals> {
  const engine = engineNamed(replica.engine, replica.id);
  const report = engine.read(readSamples(await text(replica, '/metrics', timeoutMs)));
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
  const { statusCode, body } = await replica.pool.request({
    path,
    method: 'GET',
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MOST_BYTES) throw new Error(`${path} is larger than ${MOST_BYTES} bytes`);
    pieces.push(piece);
  }
  if (statusCode !== 200) throw new Error(`${path} says ${statusCode}`);
  return Buffer.concat(pieces).toString('utf8');
}
