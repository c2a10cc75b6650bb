import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { RequestTable, ROW_FOLLOW_UP, setSourceId } from '../../workload/request-table.js';
import type { Workload } from '../../workload/workload.js';
import type { ObserveOptions, ObservePlan } from './observation.js';

export interface FakeRequest {
  path: string;
  body: Record<string, unknown> & { prompt?: string; max_tokens?: number; stream?: boolean };
  headers: IncomingMessage['headers'];
}

type Answer = (request: FakeRequest, response: ServerResponse, n: number) => void;

export interface FakeServer {
  url: string;
  /** All but those of calibration, in order. */
  requests: FakeRequest[];
  /** Accepts no further connections; open requests continue. */
  refuse(): void;
  close(): Promise<void>;
}

const running: FakeServer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

/**
 * A server on loopback that serves the model `fake` and responds to the n-th request as a test defines. Requests of the
 * calibration get a response of one token, with a token per word of the prompt. Closed after the test.
 */
export async function fakeServer(answer: Answer, others: Record<string, Answer> = {}): Promise<FakeServer> {
  const requests: FakeRequest[] = [];
  let count = 0;
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString('utf8');
    const path = incoming.url ?? '';
    const request: FakeRequest = { path, body: text === '' ? {} : JSON.parse(text), headers: incoming.headers };
    const other = others[path];
    if (other !== undefined) other(request, response, 0);
    else if (path === '/v1/models') json(response, { data: [{ id: 'tiny', max_model_len: 1000 }] });
    else if (!path.startsWith('/v1/')) response.writeHead(404).end();
    else if (isCalibration(request)) json(response, whole(request, 1));
    else {
      requests.push(request);
      answer(request, response, count++);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const fake: FakeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    refuse: () => void server.close(),
    async close() {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
  running.push(fake);
  return fake;
}

function isCalibration({ body, headers }: FakeRequest): boolean {
  return body.stream !== true && headers['x-request-id'] === undefined;
}

export function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** How many words a prompt has. */
export function wordsOf({ body }: FakeRequest): number {
  return (body.prompt ?? '').trim().split(' ').length;
}

/** A plain completion of this many tokens without streaming. */
export function whole(request: FakeRequest, tokens: number): object {
  return {
    choices: [{ index: 0, text: ' a'.repeat(tokens), finish_reason: 'length' }],
    usage: { prompt_tokens: wordsOf(request), completion_tokens: tokens },
  };
}

export function event(body: object): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

export function piece(text: string, finish: string | null = null): string {
  return event({ choices: [{ index: 0, text, finish_reason: finish }] });
}

/** A valid stream. */
export function stream(request: FakeRequest, tokens = request.body.max_tokens ?? 1): string {
  const pieces = Array.from({ length: tokens }, (_, i) => piece(' a', i === tokens - 1 ? 'length' : null));
  const usage = { prompt_tokens: wordsOf(request), completion_tokens: tokens };
  return `${pieces.join('')}${event({ choices: [], usage })}data: [DONE]\n\n`;
}

export function sendStream(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
}

/** Requests of 20 and 3 tokens, a millisecond apart. */
export function fakePlan(count: number, change: (table: RequestTable) => void = () => {}): ObservePlan {
  const table = new RequestTable(count);
  for (let i = 0; i < count; i++) {
    const row = table.append();
    table.arrivalUs[row] = i * 1000;
    table.inputTokens[row] = 20;
    table.outputTokens[row] = 3;
  }
  change(table);
  const workload: Workload = { table };
  return { workload, horizonUs: null, urgency: () => 7 };
}

/** Lets every request of a plan be followed by another when it is over, `rounds` in all, as one and the same user's. */
export function askAgain(plan: ObservePlan, rounds: number): ObservePlan {
  const { table } = plan.workload;
  for (let row = 0; row < table.count; row++) table.session[row] = table.sessions.index(`user_${row}`);
  let followUps = 0;
  plan.workload.sessions = {
    left(_, row, __, atUs) {
      if (table.round[row]! + 1 >= rounds) return -1;
      const next = table.append();
      setSourceId(table, next, ++followUps);
      table.flags[next] = ROW_FOLLOW_UP;
      table.arrivalUs[next] = atUs;
      table.inputTokens[next] = table.inputTokens[row]!;
      table.outputTokens[next] = table.outputTokens[row]!;
      table.session[next] = table.session[row]!;
      table.round[next] = table.round[row]! + 1;
      return next;
    },
  };
  return plan;
}

export const TOY_OPTIONS: ObserveOptions = {
  apiFormat: 'completions',
  streaming: true,
  constrained: true,
  maxConcurrency: 256,
  warmUpRequests: 0,
  prewarmUs: 0,
  timeoutUs: 30e6,
  maxLatenessUs: 0,
  recordItl: false,
  scrapeIntervalMs: null,
};
