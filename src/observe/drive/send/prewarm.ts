import { ResponseReader } from '../client/response-reader.js';
import type { ServerClient } from '../client/server-client.js';
import type { RequestWriter } from './request-writer.js';
import type { SendClock } from './send-clock.js';
import { SentRequest } from './sent-request.js';

/** Requests at the same time. */
const AT_ONCE = 16;
/** A server that refuses requests is not sent more without a pause. */
const PAUSE_MS = 100;

export interface Prewarming {
  client: ServerClient;
  writer: RequestWriter;
  clock: SendClock;
  path: string;
  isStream: boolean;
  timeoutUs: number;
  maxConcurrency: number;
  /** Rows whose lengths are taken, again and again. */
  rows: number;
  durationUs: number;
}

/**
 * Keeps a server busy for a while before anything is measured, with requests as long as those of the plan and nothing in common
 * with them. Resolves when the last of them is over, or at once after `signal`.
 */
export async function prewarm(settings: Prewarming, signal: AbortSignal): Promise<void> {
  const { client, clock, durationUs, isStream, maxConcurrency, path, rows, timeoutUs, writer } = settings;
  const endUs = clock.nowUs() + durationUs;
  const underWay = new Set<SentRequest>();
  let n = 0;
  const send = () =>
    new Promise<SentRequest>((resolve) => {
      const exchange = new SentRequest(-1, new ResponseReader(isStream, false), clock, (over) => {
        underWay.delete(over);
        resolve(over);
      });
      underWay.add(exchange);
      const body = writer.unplanned(n % rows, n);
      n++;
      exchange.start(client, { path, body, headers: {}, timeoutUs: Math.min(timeoutUs, endUs - clock.nowUs() + 1e6) });
    });
  const worker = async () => {
    while (clock.nowUs() < endUs && !signal.aborted) {
      const { problem } = await send();
      if (problem !== null && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const stop = () => {
    for (const exchange of [...underWay]) exchange.interrupt();
  };
  signal.addEventListener('abort', stop);
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, maxConcurrency) }, worker));
  signal.removeEventListener('abort', stop);
}
