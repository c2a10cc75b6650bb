import { Pool } from 'undici';
import { UpstreamPool } from '../../src/gateway/upstream/upstream-pool.js';

/**
 * One client in its own process sends requests, some at once, and prints the cost of one. Arguments: `own` or `undici`,
 * the backend's port, `plain` or `streamed`, and the number of requests.
 */
const [client, port, kind, count] = process.argv.slice(2);
const REQUESTS = Number(count);
const WARM_UP = REQUESTS / 4;
const AT_ONCE = 32;
const url = `http://127.0.0.1:${port}`;
const timeouts = { connectMs: 2000, headersMs: 300_000, keepAliveMs: 4000 };

const messages = [{ role: 'user', content: 'The quick brown fox jumps over the lazy dog. '.repeat(28) }];
const parts = {
  path: '/v1/chat/completions',
  method: 'POST' as const,
  headers: [
    'content-type',
    'application/json',
    'accept',
    '*/*',
    'user-agent',
    'bench',
    'x-request-id',
    'req-0123456789',
  ],
  body: Buffer.from(JSON.stringify({ model: 'm', messages, max_tokens: 16, stream: kind === 'streamed' })),
};

const waits = new Float64Array(REQUESTS);
let started = 0;
let ended = 0;
let beganUs = process.cpuUsage();

/** Both clients read what a gateway needs: status, headers as strings, and the bytes of the body. */
class Request {
  readonly startedMs = performance.now();
  headers: string[] = [];
  bytes = 0;

  onConnect(): void {}

  onHeaders(_: number, headers: readonly (string | Buffer)[]): boolean {
    for (let i = 0; i < headers.length; i++) {
      const text = headers[i]!;
      this.headers.push(typeof text === 'string' ? text : text.toString('latin1'));
    }
    return true;
  }

  onData(data: Buffer): boolean {
    this.bytes += data.length;
    return true;
  }

  onComplete(): void {
    if (ended >= WARM_UP) waits[ended - WARM_UP] = performance.now() - this.startedMs;
    if (++ended === WARM_UP) beganUs = process.cpuUsage();
    if (ended === WARM_UP + REQUESTS) finish();
    else next();
  }

  onError(error: Error): never {
    throw error;
  }
}

function finish(): never {
  const { user, system } = process.cpuUsage(beganUs);
  waits.sort();
  const p99Ms = waits[Math.floor(REQUESTS * 0.99)];
  process.stdout.write(JSON.stringify({ cpuUs: (user + system) / REQUESTS, userUs: user / REQUESTS, p99Ms }));
  process.exit(0);
}

const own = new UpstreamPool(url, { ...timeouts, mostConnections: 1024, mostWaiting: 1024, headBytes: 16_384 });
const undici = new Pool(url, {
  connections: null,
  pipelining: 1,
  connect: { timeout: timeouts.connectMs },
  headersTimeout: timeouts.headersMs,
  bodyTimeout: 0,
  keepAliveTimeout: timeouts.keepAliveMs,
});
const send = client === 'own' ? () => own.dispatch(parts, new Request()) : () => undici.dispatch(parts, new Request());

function next(): void {
  if (started++ < WARM_UP + REQUESTS) send();
}

for (let i = 0; i < AT_ONCE; i++) next();
