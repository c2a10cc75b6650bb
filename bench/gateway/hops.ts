import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Session } from 'node:inspector';
import { type AddressInfo, connect, createServer as createPort, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

/**
 * How many files and classes of the product a completion passes between its arrival and its first byte upstream: one gateway, one
 * replica, connections open, prefix-aware weighted routing. A file or class counts when the engine's coverage saw one of its
 * functions called in between. Timers may fire meanwhile, so the shortest of several requests counts.
 * Arguments: the folder of a built tree, this one without it; `--files` also prints the files with their classes, `--functions` with
 * every function called.
 */
const [tree = fileURLToPath(new URL('../../../', import.meta.url))] = process.argv
  .slice(2)
  .filter((argument) => !argument.startsWith('--'));
const [listsFiles, listsFunctions] = ['--files', '--functions'].map((flag) => process.argv.includes(flag));
const REQUESTS = 20;
const MODEL_LIST = '{"object":"list","data":[{"id":"m","object":"model"}]}';
const COMPLETION =
  '{"id":"c","object":"chat.completion","model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}';

interface Called {
  file: string;
  /** Empty for a function outside of classes. */
  owner: string;
  name: string;
}

interface Coverage {
  result: { url: string; functions: { functionName: string; ranges: { startOffset: number; count: number }[] }[] }[];
}

const session = new Session();
const seen: Called[][] = [];

/** The coverage since the last call; a session of the same thread responds before `post` returns. */
function takeCoverage(): Coverage {
  let taken: Coverage = { result: [] };
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error !== null) throw error;
    taken = coverage;
  });
  return taken;
}

function calledSince({ result }: Coverage): Called[] {
  const dist = `${tree.replace(/\/$/, '')}/dist/`;
  return result.flatMap(({ functions, url }) => {
    const path = url.startsWith('file:') ? fileURLToPath(url) : '';
    if (!path.startsWith(dist)) return [];
    const called = functions.filter(({ ranges }) => ranges[0]!.count > 0);
    if (called.length === 0) return [];
    const classes = classesOf(readFileSync(path, 'utf8'));
    return called.map(({ functionName, ranges }) => {
      const at = ranges[0]!.startOffset;
      const owner = classes.find(({ from, to }) => from <= at && at < to)?.name ?? '';
      return { file: path.slice(dist.length), owner, name: functionName };
    });
  });
}

/** The ranges of classes in a compiled file: the compiler puts the end of a top-level class into the first column. */
function classesOf(source: string): { name: string; from: number; to: number }[] {
  return [...source.matchAll(/^(?:export )?(?:abstract )?class (\w+)[\s\S]*?^}/gm)].map((match) => ({
    name: match[1]!,
    from: match.index,
    to: match.index + match[0].length,
  }));
}

async function freePort(): Promise<number> {
  const server = createPort().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** An engine that takes the coverage when the first byte of a request arrives. */
async function startEngine(): Promise<number> {
  const server = createServer((request, response) => {
    const body = request.url === '/v1/models' ? MODEL_LIST : request.method === 'POST' ? COMPLETION : '';
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
    });
  });
  server.on('connection', (socket: Socket) => {
    socket.prependListener('data', (bytes: Buffer) => {
      if (bytes.toString('latin1', 0, 4) === 'POST') seen.push(calledSince(takeCoverage()));
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
}

async function untilReady(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const response = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`the gateway is not ready on port ${port}`);
}

async function complete(client: Socket): Promise<void> {
  const content = 'The quick brown fox jumps over the lazy dog. '.repeat(25);
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], max_tokens: 16 });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  takeCoverage();
  client.write(head + body);
  let response = '';
  while (!response.includes(COMPLETION)) {
    response += await new Promise<string>((resolve) => client.once('data', (bytes) => resolve(bytes.toString())));
  }
}

session.connect();
const engine = await startEngine();
const [port, admin] = [await freePort(), await freePort()];
const command = `${tree.replace(/\/$/, '')}/dist/cli/main.js`;
process.argv = [process.execPath, command, 'serve', '--replica', `http://127.0.0.1:${engine}`];
process.argv.push('--port', String(port), '--admin-port', String(admin));
void import(command);
await untilReady(port);
const client = connect(port, '127.0.0.1');
await new Promise((resolve) => client.once('connect', resolve));
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
for (let i = 0; i < REQUESTS; i++) await complete(client);
const shortest = seen.slice(1).reduce((best, one) => (one.length < best.length ? one : best));
const HTTP = /^gateway\/(http|upstream|wire)\//;
const groups: [string, (file: string) => boolean][] = [
  ['all', () => true],
  ['gateway without HTTP server and client', (file) => file.startsWith('gateway/') && !HTTP.test(file)],
  ['HTTP server and client', (file) => HTTP.test(file)],
  ['policies, protocol and kernel', (file) => !file.startsWith('gateway/')],
];
for (const [name, isIn] of groups) {
  const called = shortest.filter(({ file }) => isIn(file));
  const files = new Set(called.map(({ file }) => file));
  const classes = new Set(called.flatMap(({ file, owner }) => (owner === '' ? [] : [`${file} ${owner}`])));
  process.stdout.write(`${name}: ${files.size} files, ${classes.size} classes, ${called.length} functions\n`);
}
if (listsFiles || listsFunctions) {
  for (const file of [...new Set(shortest.map((one) => one.file))].sort()) {
    const called = shortest.filter((one) => one.file === file);
    const names = listsFunctions
      ? called.map(({ name, owner }) => (owner ? `${owner}.${name}` : name))
      : new Set(called.flatMap(({ owner }) => (owner === '' ? [] : [owner])));
    process.stdout.write(`${[file.replace(/\.js$/, '.ts'), ...names].join(' ')}\n`);
  }
}
process.exit();
