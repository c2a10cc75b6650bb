import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { GATEWAY_DEFAULTS } from '../src/gateway/config/gateway-config.js';
import { randomStream } from '../src/kernel/random-stream.js';
import { fakeEngine, until } from './support/engine-fixture.js';
import { expectIdle, gatewayOver, RawClient } from './support/gateway-fixture.js';
import { type Malformed, malformedRequests } from './support/malformed-requests.js';

const REQUESTS = 10_000;
const AT_ONCE = 16;
const LIMITS = { ...GATEWAY_DEFAULTS.limits, bodyBytes: 20_000, headerBytes: 16_384, decisions: 100 };

/** A whole response with its length. */
const ANSWER = /^HTTP\/1\.1 (\d{3}) [\s\S]*?\r\ncontent-length: (\d+)\r\n[\s\S]*?\r\n\r\n/i;

/** Sends requests that are HTTP, one after the other on one connection for as long as it lasts. */
class KeptClient {
  readonly #url: string;
  #client: RawClient | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  async status(bytes: Buffer): Promise<number> {
    if (this.#client === null || this.#client.isClosed) this.#client = new RawClient(this.#url);
    const client = this.#client;
    client.text = '';
    client.socket.write(bytes);
    for (;;) {
      const head = ANSWER.exec(await client.until(ANSWER));
      if (head === null) return 0;
      const end = head[0].length + Number(head[2]);
      if (client.text.length >= end || client.isClosed) return Number(head[1]);
      await client.until(new RegExp(`^[\\s\\S]{${end}}`));
    }
  }

  close(): void {
    this.#client?.socket.destroy();
  }
}

/** Sends bytes on a new connection, then nothing more; returns what is received. */
function said(url: string, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.end(bytes));
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

const shown = ({ bytes }: Malformed) => bytes.subarray(0, 200).toString('latin1');

test(`${REQUESTS} malformed requests get 4xx, or their connection closed, and change nothing`, async () => {
  const engines = [await fakeEngine(), await fakeEngine()];
  const gateway = await gatewayOver(engines, {
    limits: LIMITS,
    breaker: { failures: 1, share: 1, windowMs: 0, openMs: 60_000 },
  });
  const next = malformedRequests(randomStream(1, 'malformed'), LIMITS.bodyBytes);
  const statuses = new Map<number, number>();
  let sent = 0;
  async function client(): Promise<void> {
    const kept = new KeptClient(gateway.url);
    while (sent < REQUESTS) {
      const request = next(sent++);
      const status = request.isHttp
        ? await kept.status(request.bytes)
        : statusOf(await said(gateway.url, request.bytes));
      if (request.isHttp || status !== 0) {
        expect(status, shown(request)).toBeGreaterThanOrEqual(400);
        expect(status, shown(request)).toBeLessThan(500);
      }
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    kept.close();
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  // Every kind of refusal happened.
  expect([...statuses.keys()].sort((a, b) => a - b)).toEqual([400, 404, 405, 413, 417, 431]);
  expect(gateway.metrics.outcomes.get('client_error')).toBeGreaterThan(REQUESTS / 10);
  expect(gateway.metrics.faults).toBe(0);
  await until(() => gateway.inFlight === 0);
  expectIdle(gateway);
  expect(gateway.replicas().every(({ breaker, state }) => state === 'ready' && !breaker.isOpen)).toBe(true);
  expect(gateway.ring.size).toBeLessThanOrEqual(LIMITS.decisions);
  expect(engines.map((engine) => engine.stats())).toMatchObject(engines.map(() => ({ running: 0, waiting: 0 })));
  await until(() => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length < 20);
});

/** 0 when there was no response: then the connection was closed. */
function statusOf(response: string): number {
  if (response === '') return 0;
  const match = /^HTTP\/1\.1 (\d{3}) /.exec(response);
  expect(match, response.slice(0, 100)).not.toBeNull();
  return Number(match![1]);
}
