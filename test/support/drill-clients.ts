import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** A request that a client has sent. */
interface DrillRequest {
  /** The replica, once the response has begun. */
  replica: string | null;
  /** Of the response body so far. */
  text: string;
}

/** How a request ended. */
export interface DrillEnd {
  /** `complete`; `told`: a stream that ends with an error event; `broken` or `refused`: its connection; else status and body. */
  readonly end: string;
  readonly replica: string | null;
  readonly sentAt: number;
  readonly endedAt: number;
}

/** Enough for seconds at the speed of an emulated engine. */
const STREAM_TOKENS = 150;
const OTHER_TOKENS = 20;

/**
 * Clients that send one request after the other, every second one a stream, and record how each ends. Each request has a
 * connection of its own, so a killed server can break one of each client at most.
 */
export class DrillClients {
  readonly ends: DrillEnd[] = [];
  readonly #open = new Set<DrillRequest>();
  readonly #running: Promise<void>[];
  #isOver = false;

  constructor(
    private readonly url: string,
    count: number,
  ) {
    this.#running = Array.from({ length: count }, (_, i) => this.#client(i));
  }

  /** Requests by how they ended. */
  get counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { end } of this.ends) counts[end] = (counts[end] ?? 0) + 1;
    return counts;
  }

  /** The number of streams of a replica that have begun and not ended. */
  streaming(replica: string): number {
    let count = 0;
    for (const one of this.#open) if (one.replica === replica && one.text.includes('"content"')) count++;
    return count;
  }

  /** Resolves when so many more requests are complete. */
  async untilMore(count: number): Promise<void> {
    const complete = () => this.ends.filter(({ end }) => end === 'complete').length;
    for (const enough = complete() + count; complete() < enough; ) await pause(20);
  }

  /** Sends no more requests; resolves when the server has begun to respond to each, or it has ended. */
  async untilBegun(): Promise<void> {
    this.#isOver = true;
    while ([...this.#open].some(({ replica }) => replica === null)) await pause(20);
  }

  /** Sends no more requests; resolves when all have ended. */
  async rest(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #client(number: number): Promise<void> {
    for (let i = number; !this.#isOver; i++) {
      const one: DrillRequest = { replica: null, text: '' };
      this.#open.add(one);
      const sentAt = performance.now();
      const end = await this.#send(one, i % 2 === 0);
      this.#open.delete(one);
      this.ends.push({ end, replica: one.replica, sentAt, endedAt: performance.now() });
      // Refused connections fail at once: do not take the processor from the server that starts.
      if (end === 'refused') await pause(20);
    }
  }

  #send(one: DrillRequest, stream: boolean): Promise<string> {
    const max_tokens = stream ? STREAM_TOKENS : OTHER_TOKENS;
    const messages = [{ role: 'user', content: 'Count to a hundred.' }];
    return new Promise((resolve) => {
      const failed = ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'refused' : 'broken');
      // Without an agent the connection is closed after the response.
      const sent = request(`${this.url}/v1/chat/completions`, { method: 'POST', agent: false }, (response) => {
        one.replica = (response.headers['x-twinyard-replica'] as string | undefined) ?? null;
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          one.text += piece;
        });
        response.on('end', () => resolve(endOf(response.statusCode!, one.text, stream)));
        response.on('error', failed);
      });
      sent.on('error', failed);
      const options = stream ? { stream, stream_options: { include_usage: true } } : {};
      sent.end(JSON.stringify({ model: 'tiny', messages, max_tokens, ...options }));
    });
  }
}

function endOf(status: number, text: string, stream: boolean): string {
  if (status !== 200) return `${status} ${text}`;
  if (!stream) return JSON.parse(text).usage.completion_tokens > 0 ? 'complete' : `empty: ${text}`;
  // What docs/gateway.md promises: the last event is an error.
  if (/\ndata: \{"error":\{"message":"[^\n]+\n\n(?:data: \[DONE\]\n\n)?$/.test(text)) return 'told';
  const isWhole = /"finish_reason":"(?:length|stop)".*"completion_tokens":\d+.*data: \[DONE\]\n\n$/s.test(text);
  return isWhole ? 'complete' : `ends with ${text.slice(-300)}`;
}
