import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { streamChat, type Timing } from '../engine/stream-client.js';
import { capacityOf, REPLICAS } from './fleet-run.js';
import { BLOCK_TOKENS, TRAFFIC, type TrafficKind, tableOf } from './workloads.js';

/**
 * The best policies of the simulated table live: the same traffic in real time through a gateway in front of four emulated
 * engines, each policy with fresh engines, and through vllm-router and SMG with their cache-aware policies where ROUTERS
 * names the folder that holds them. Each figure is the mean TTFT (then E2E) over that of the best router.
 * `npm run bench:default-policy-live -- [load] [seconds] [policies] [traffic]`, lists with commas.
 */
const load = Number(process.argv[2] ?? 0.7);
const seconds = Number(process.argv[3] ?? 20);
const policies = (process.argv[4] ?? 'unified,sglang-cache-aware,dynamo-cost').split(',');
/** The engines run at half speed, so that two cores hold them, the router and the clients. */
const SPEED = 0.5;
/** Sessions pause for a fifth of their time, so that several turns of them fit into a run. */
const PAUSES = 0.2;
const CHARACTERS_PER_TOKEN = 4;
const FIRST_PORT = 9701;
const ROUTER_PORT = 9710;
const MODEL = 'qwen/qwen3-14b';
const cli = fileURLToPath(new URL('../../../dist/bundle/main.js', import.meta.url));

interface Router {
  name: string;
  command: string;
  args(urls: readonly string[]): string[];
}

function routers(): Router[] {
  const ours = policies.map((policy) => ({
    name: policy,
    command: process.execPath,
    args: (urls: readonly string[]) => [
      ...[cli, 'serve', '--port', String(ROUTER_PORT), '--admin-port', String(ROUTER_PORT + 1)],
      ...['--routing-policy', policy, ...urls.flatMap((url) => ['--replica', url])],
    ],
  }));
  const folder = process.env.ROUTERS;
  if (folder === undefined) return ours;
  const common = (urls: readonly string[]) => [
    ...['--host', '127.0.0.1', '--port', String(ROUTER_PORT), '--prometheus-port', String(ROUTER_PORT + 1)],
    ...['--policy', 'cache_aware', '--worker-urls', ...urls],
  ];
  return [
    ...ours,
    { name: 'vllm-router', command: join(folder, 'vllm-router'), args: common },
    {
      name: 'smg',
      command: join(folder, 'smg'),
      args: (urls) => ['launch', ...common(urls), '--model-path', MODEL],
    },
  ];
}

async function start(command: string, args: readonly string[], url: string): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: 'ignore' });
  for (let tries = 0; tries < 400; tries++) {
    const response = await fetch(`${url}/v1/models`).catch(() => null);
    if (response?.ok) return child;
    await pause(50);
  }
  child.kill('SIGKILL');
  throw new Error(`${command} does not answer on ${url}`);
}

async function stop(children: readonly ChildProcess[]): Promise<void> {
  await Promise.all(
    children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }),
  );
}

/** The text of a block of a prompt: different for each block, and as long as its tokens. */
const textOf = (block: number) =>
  `block ${block} of the prompt `.repeat(4).slice(0, BLOCK_TOKENS * CHARACTERS_PER_TOKEN);

interface Planned {
  atMs: number;
  body: object;
}

function planned(kind: TrafficKind, rate: number): Planned[] {
  const table = tableOf(kind, Math.round(rate * seconds), rate, 42, PAUSES);
  const requests: Planned[] = [];
  for (let row = 0; row < table.count; row++) {
    const atMs = table.arrivalUs[row]! / 1000;
    if (atMs > 1500 * seconds) break;
    const blocks = table.blocks!;
    const length = blocks.blocksOf(row);
    const content = Array.from({ length }, (_, i) => textOf(blocks.block(row, i))).join('');
    const output = table.outputTokens[row]!;
    requests.push({
      atMs,
      body: { model: MODEL, messages: [{ role: 'user', content }], max_tokens: output, ignore_eos: true, stream: true },
    });
  }
  return requests;
}

interface Result {
  ttftMs: number;
  e2eMs: number;
  failed: number;
}

async function send(requests: readonly Planned[], url: string): Promise<Result> {
  const begun = performance.now();
  const timings: (Timing | null)[] = await Promise.all(
    requests.map(async ({ atMs, body }) => {
      await pause(Math.max(0, atMs - (performance.now() - begun)));
      return streamChat(url, body).catch(() => null);
    }),
  );
  const good = timings.filter((timing) => timing !== null && timing.chunksMs.length > 0) as Timing[];
  const mean = (of: (timing: Timing) => number) => good.reduce((sum, timing) => sum + of(timing), 0) / good.length;
  return {
    ttftMs: mean(({ sentMs, chunksMs }) => chunksMs[0]! - sentMs),
    e2eMs: mean(({ sentMs, chunksMs }) => chunksMs.at(-1)! - sentMs),
    failed: timings.length - good.length,
  };
}

async function measured(router: Router, kind: TrafficKind, requests: readonly Planned[]): Promise<Result> {
  const urls = Array.from({ length: REPLICAS }, (_, i) => `http://127.0.0.1:${FIRST_PORT + i}`);
  const children: ChildProcess[] = [];
  try {
    for (const [i, url] of urls.entries()) {
      const slow = kind.slowFactors?.[i] ?? 1;
      const args = ['--model', MODEL, '--hardware', 'H100', '--port', String(FIRST_PORT + i), '--speed', String(SPEED)];
      children.push(await start(process.execPath, [cli, 'engine', ...args, '--slow-factor', String(slow)], url));
    }
    const url = `http://127.0.0.1:${ROUTER_PORT}`;
    children.push(await start(router.command, router.args(urls), url));
    return await send(requests, url);
  } finally {
    await stop(children);
  }
}

const named = process.argv[5]?.split(',');
const kinds = TRAFFIC.filter(({ name }) => named?.includes(name) ?? true);
const cells = new Map<string, { ttft: number; e2e: number }[]>();
for (const kind of kinds) {
  const rate = load * SPEED * capacityOf(kind, 800);
  const requests = planned(kind, rate);
  const results: [string, Result][] = [];
  for (const router of routers()) {
    const result = await measured(router, kind, requests);
    results.push([router.name, result]);
    process.stderr.write(
      `${kind.name}, ${rate.toFixed(1)} requests/s, ${requests.length} in all: ${router.name} ` +
        `TTFT ${result.ttftMs.toFixed(1)} ms, E2E ${result.e2eMs.toFixed(0)} ms, ${result.failed} failed\n`,
    );
  }
  const best = (of: (result: Result) => number) => Math.min(...results.map(([, result]) => of(result)));
  const bestTtft = best(({ ttftMs }) => ttftMs);
  const bestE2e = best(({ e2eMs }) => e2eMs);
  for (const [name, { ttftMs, e2eMs }] of results) {
    const row = cells.get(name) ?? [];
    row.push({ ttft: ttftMs / bestTtft, e2e: e2eMs / bestE2e });
    cells.set(name, row);
  }
}
const say = (text: string) => process.stdout.write(`${text}\n`);
say(`Mean TTFT over the best router's at ${load * 100} % of capacity, live, ${seconds} s each`);
say(`${'router'.padEnd(20)} worst TTFT  worst E2E  ${kinds.map(({ name }) => name.padStart(17)).join(' ')}`);
for (const [name, row] of cells) {
  const worst = (of: 'ttft' | 'e2e') => Math.max(...row.map((cell) => cell[of])).toFixed(2);
  const ttfts = row.map(({ ttft }) => ttft.toFixed(2).padStart(17)).join(' ');
  say(`${name.padEnd(20)} ${worst('ttft').padStart(10)} ${worst('e2e').padStart(10)}  ${ttfts}`);
}
process.exit(0);
