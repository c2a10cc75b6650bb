import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventHeap } from '../../src/kernel/events/event-heap.js';
import { writeAisimulateInput } from './aisimulate-input.js';
import type { MeasuredRun } from './measured-run.js';

/** The final 0.13.0 is a stub; this is the last version before it that has tables. */
export const AISIMULATE_VERSION = '0.13.0.dev202610270000000085';

/** Latencies by row, from the moment the client sent the request; or the reason why the rival does not take the run. */
export type RivalPrediction = { ttftUs: Float64Array; e2eUs: Float64Array } | { refused: string };

/**
 * Predicts a run with AISimulate, `program` being its command: one aggregated vLLM engine with the settings of the run,
 * its requests at their planned times, equal prompt blocks as equal ids, and its default tables for this GPU.
 */
export function aisimulate(program: string, run: MeasuredRun): RivalPrediction {
  const folder = mkdtempSync(join(tmpdir(), 'aisimulate-'));
  try {
    const config = writeAisimulateInput(run, folder);
    const out = join(folder, 'out');
    const args = ['predict', '--config', config, '--output-dir', out, '--capture-per-request'];
    const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8' });
    if (error !== undefined) throw error;
    if (status !== 0) return { refused: reasonOf(stderr.replaceAll(`${folder}/`, '')) };
    return latencies(run, readFileSync(join(out, 'requests.jsonl'), 'utf8'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface PredictedRequest {
  session_id: string;
  terminal_status: string;
  ttft_ms: number;
  e2e_latency_ms: number;
}

function latencies(run: MeasuredRun, lines: string): RivalPrediction {
  const ttftUs = new Float64Array(run.table.count).fill(Number.NaN);
  const e2eUs = new Float64Array(run.table.count).fill(Number.NaN);
  for (const line of lines.trim().split('\n')) {
    const request: PredictedRequest = JSON.parse(line);
    if (request.terminal_status !== 'completed') continue;
    ttftUs[Number(request.session_id)] = request.ttft_ms * 1000;
    e2eUs[Number(request.session_id)] = request.e2e_latency_ms * 1000;
  }
  const lost = e2eUs.findIndex(Number.isNaN);
  if (lost >= 0) return { refused: `request ${lost} was not completed` };
  const heldUs = heldByClient(run, e2eUs);
  return { ttftUs: ttftUs.map((us, row) => us - heldUs[row]!), e2eUs: e2eUs.map((us, row) => us - heldUs[row]!) };
}

/**
 * How long a client with a limit on requests in flight holds each request back. The rival has no such client: there, these
 * requests wait in the engine's queue instead. It is first come, first served and has no more seats than the client's
 * limit, so that they run at the same times.
 */
function heldByClient({ table, maxInFlight }: MeasuredRun, e2eUs: Float64Array): Float64Array {
  const heldUs = new Float64Array(table.count);
  const ends = new EventHeap();
  let sentUs = 0;
  for (let row = 0; row < table.count; row++) {
    const arrivalUs = table.arrivalUs[row]!;
    sentUs = Math.max(sentUs, arrivalUs);
    while (ends.size > 0 && (ends.nextUs <= sentUs || ends.size >= maxInFlight)) {
      sentUs = Math.max(sentUs, ends.nextUs);
      ends.pop();
    }
    heldUs[row] = sentUs - arrivalUs;
    ends.push(arrivalUs + e2eUs[row]!, row);
  }
  return heldUs;
}

/** The first sentence of its error, which follows the log lines and precedes what the supervising process says. */
function reasonOf(stderr: string): string {
  const reason = /aisimulate predict failed: (?:\w+: )?(.*?)(?:: |\. |$)/m.exec(stderr)?.[1];
  return reason ?? stderr.trim().split('\n').at(-1) ?? '';
}
