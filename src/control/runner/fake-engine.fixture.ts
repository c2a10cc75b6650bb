import { PLACEHOLDERS, type ReplicaSpec } from './contract.js';

/** What a fake engine does by itself; everything else it is told by HTTP. */
export interface FakeBehaviour {
  /** What it says before all else, on stderr. */
  readonly says?: readonly string[];
  /** Ends with this code then. */
  readonly exits?: number;
  /** Is ready from the start; else when `POST /ready` says so. */
  readonly isReady?: boolean;
  /** Does not listen to SIGTERM. */
  readonly isDeaf?: boolean;
  /** Starts two processes that would go on for ever, one of them in a session of its own. */
  readonly hasChildren?: boolean;
}

/**
 * An engine in some lines: `/health` as it was told to, `POST /ready`, `/unready`, `/say?line` and `/exit?code`, and what it
 * was started with on `/self`.
 */
const SCRIPT = `
const { createServer } = require('node:http');
const { spawn } = require('node:child_process');
const [port, behaviour] = process.argv.slice(1);
const { says = [], exits, isReady = true, isDeaf = false, hasChildren = false } = JSON.parse(behaviour);
for (const line of says) console.error(line);
if (exits !== undefined) process.exit(exits);
let status = isReady ? 200 : 503;
process.on('SIGTERM', () => {
  console.log('asked to end');
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
}).listen(Number(port), '127.0.0.1', () => console.log('listening'));
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
    args: ['-e', SCRIPT, '--', PLACEHOLDERS.port, JSON.stringify(behaviour)],
    env: {},
    port: null,
    workingFolder: null,
    resources: { cpu: null, memoryBytes: null, gpus: 0, product: null },
    placement: 'pack',
    healthPath: '/health',
    startupTimeoutMs: 60_000,
    ...change,
  };
}
