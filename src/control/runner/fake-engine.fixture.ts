import type { ReplicaHandle, ReplicaSpec } from './contract.js';
import { RUNNER_PLACEHOLDERS } from './fill-placeholders.js';
import type { EngineOrder } from './runner.contract.js';

/** What a fake engine does by itself; the rest is requested over HTTP. */
export interface FakeBehaviour {
  /** Lines that it writes to stderr first. */
  readonly says?: readonly string[];
  /** Exits with this code after that. */
  readonly exits?: number;
  /** Ready from the start; else after `POST /ready`. */
  readonly isReady?: boolean;
  /** Ignores SIGTERM. */
  readonly isDeaf?: boolean;
  /** Starts two processes that never end, one of them in its own session. */
  readonly hasChildren?: boolean;
}

/** An engine in a few lines: `/health`, `POST /ready`, `/unready`, `/say?line`, `/exit?code`, and `/self`: how it was started. */
const SCRIPT = `
const { createServer } = require('node:http');
const { spawn } = require('node:child_process');
const [port, behaviour] = process.argv.slice(1);
const { says = [], exits, isReady = true, isDeaf = false, hasChildren = false } = JSON.parse(behaviour);
for (const line of says) console.error(line);
if (exits !== undefined) process.exit(exits);
let status = isReady ? 200 : 503;
process.on('SIGTERM', () => {
  console.log('received SIGTERM');
  if (!isDeaf) process.exit(0);
});
if (hasChildren) for (const detached of [false, true]) spawn('sleep', ['1000'], { detached, stdio: 'inherit' });
createServer((request, response) => {
  const { pathname, search } = new URL(request.url, 'http://engine');
  if (pathname === '/health') response.statusCode = status;
  if (pathname === '/ready') status = 200;
  if (pathname === '/unready') status = 503;
  if (pathname === '/say') console.log(decodeURIComponent(search.slice(1)));
  if (pathname === '/exit') process.exit(Number(search.slice(1)));
  response.end(JSON.stringify({ env: process.env, folder: process.cwd(), args: process.argv.slice(1) }));
}).listen(Number(port), process.env.FAKE_HOST ?? '127.0.0.1', () => console.log('listening'));
`;

/** A replica that is a fake engine. */
export function fakeSpec(id: string, behaviour: FakeBehaviour = {}, change: Partial<ReplicaSpec> = {}): ReplicaSpec {
  return {
    id,
    workspace: 'default',
    endpoint: 'tiny',
    generation: 1,
    specHash: 'h1',
    command: process.execPath,
    args: ['-e', SCRIPT, '--', RUNNER_PLACEHOLDERS.port, JSON.stringify(behaviour)],
    images: {},
    env: {},
    secretEnv: {},
    resources: { cpu: null, memoryBytes: null, gpus: 0, product: null },
    placement: 'pack',
    healthPath: '/health',
    startupTimeoutMs: 60_000,
    ...change,
  };
}

/** Makes a fake engine do something; resolves when it has, or has ended. */
export async function tellFake({ url }: Pick<ReplicaHandle, 'url'>, what: EngineOrder): Promise<void> {
  const path =
    typeof what === 'string' ? what : 'say' in what ? `say?${encodeURIComponent(what.say)}` : `exit?${what.exit}`;
  await fetch(`${url}/${path}`, { method: 'POST' }).then(
    (response) => response.text(),
    () => '',
  );
}
