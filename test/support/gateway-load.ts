import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { expect } from 'vitest';
import type { RandomStream } from '../../src/kernel/random-stream.js';
import { afterwards } from './gateway-fixture.js';

/** How a request ended for its client. */
export interface Ended {
  /** 0 when no response came at all. */
  status: number;
  text: string;
  /** Whether the response came to its end as HTTP has it. */
  isWhole: boolean;
  hasLeft: boolean;
  /** The error of the connection, if it failed. */
  code: string | null;
}

/**
 * When a client leaves: before anything is sent, before the response begins, or after so many pieces; null: it stays.
 */
export type Leaving = 'at once' | 'when sent' | 'with the headers' | number | null;

/** Clients of a gateway that keep their connections, closed after the test. */
export class Clients {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

  constructor(url: string) {
    this.#url = url;
    afterwards(async () => this.#agent.destroy());
  }

  /** Sends a request and resolves with its outcome; never rejects. */
  send(body: object, leaving: Leaving = null): Promise<Ended> {
    return new Promise((resolve) => {
      const ended: Ended = { status: 0, text: '', isWhole: false, hasLeft: false, code: null };
      const call: ClientRequest = request(`${this.#url}/v1/chat/completions`, { method: 'POST', agent: this.#agent });
      const leave = () => {
        ended.hasLeft = true;
        call.destroy();
      };
      call.on('error', (error: NodeJS.ErrnoException) => {
        ended.code = error.code ?? error.message;
      });
      call.on('close', () => resolve(ended));
      call.on('response', (response: IncomingMessage) => {
        ended.status = response.statusCode!;
        if (leaving === 'with the headers') leave();
        let pieces = 0;
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          ended.text += piece;
          if (pieces++ === leaving) leave();
        });
        response.on('end', () => {
          ended.isWhole = true;
        });
        response.on('error', () => {});
      });
      call.end(JSON.stringify(body), () => {
        if (leaving === 'when sent') leave();
      });
      if (leaving === 'at once') leave();
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** A chat completion of one of a few kinds, streaming or not. */
export function anyChat(random: RandomStream, mostTokens = 24): object {
  const content = `question ${random.below(20)} ${'of some length '.repeat(1 + random.below(20))}`;
  const more = { max_tokens: 1 + random.below(mostTokens), ignore_eos: true, stream: random.next() < 0.6 };
  return { model: 'tiny', messages: [{ role: 'user', content }], ...more };
}

/** Concurrent clients, each sending one request after the other. */
export async function load(
  clients: Clients,
  random: RandomStream,
  { atOnce, each, mostTokens = 24 }: { atOnce: number; each: number; mostTokens?: number },
  heard: (ended: Ended) => void = () => {},
): Promise<Ended[]> {
  const all: Ended[] = [];
  const one = async () => {
    for (let i = 0; i < each; i++) {
      const ended = await clients.send(anyChat(random, mostTokens));
      all.push(ended);
      heard(ended);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return all;
}

/** That a request had its response or its error: nothing is left open, and nothing breaks off in silence. */
export function expectResponseed(ended: Ended): void {
  const { status, text, isWhole } = ended;
  expect(isWhole, `${status} ${text.slice(-200)}`).toBe(true);
  if (status !== 200) {
    expect(JSON.parse(text)).toMatchObject({ error: { message: expect.any(String), type: expect.any(String) } });
  } else if (text.startsWith('data: ')) {
    expect(text).toMatch(/data: (\[DONE\]|\{"error":\{.*\}\})\n\n$/);
  } else expect(JSON.parse(text)).toHaveProperty('usage');
}

/** Whether a request got its complete response. */
export function isServed({ status, text }: Ended): boolean {
  return status === 200 && !text.includes('data: {"error"');
}
