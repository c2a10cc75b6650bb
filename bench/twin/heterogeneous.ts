import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS } from '../../src/gateway/config/gateway-config.js';
import { Gateway } from '../../src/gateway/gateway.js';
import { ROUTING_POLICIES } from '../../src/policy/registry.js';
import { fakeProfile } from '../../src/replica/latency/fake-profile.fixture.js';
import { modelPredictor } from '../../src/replica/latency/predict/engine-predictor.js';
import { simulate } from '../../src/simulator/simulate.js';
import type { RequestTable } from '../../src/workload/request-table.js';
import { BLOCK_TOKENS, TRAFFIC, tableOf } from '../default-policy/workloads.js';
import { streamChat } from '../engine/stream-client.js';
import { cluster } from '../simulator/scenario.js';

/** Two GPUs, the first 2.5 times as fast. */
const SLOW_FACTORS = [1, 2.5];
/** The engines run slower than real time, so that two cores hold them, the gateway and the clients. */
const SPEED = 0.25;
/** Requests per second of the model's time: about two thirds of what both can do. */
const RATE = 14;
const REQUESTS = 100;
const MODEL = 'qwen/qwen3-14b';
const FIRST_PORT = 9741;
/** Made to be bad. */
const LEFT_OUT = ['always-busiest'];
const cli = fileURLToPath(new URL('../../../dist/bundle/main.js', import.meta.url));
const traffic = TRAFFIC.find(({ name }) => name === 'several prefixes')!;

interface Means {
  ttft: number;
  e2e: number;
}

/**
 * A heterogeneous fleet under every policy, simulated and in real time: predicted-latency is the best in both worlds, and both rank
 * policies alike.
 * @param names some policies, with commas between them; by default all
 */
export async function heterogeneous(say: (line: string) => void, names?: string): Promise<boolean> {
  const all = ROUTING_POLICIES.map(({ name }) => name).filter((name) => !LEFT_OUT.includes(name));
  const policies = names === undefined ? all : names.split(',');
  const rows: { policy: string; simulated: Means; live: Means }[] = [];
  say('policy                   simulated TTFT, E2E     live TTFT, E2E (ms of the model)');
  for (const policy of policies) {
    const row = { policy, simulated: simulated(policy), live: await live(policy) };
    rows.push(row);
    const cells = [row.simulated.ttft, row.simulated.e2e, row.live.ttft, row.live.e2e].map((ms) =>
      ms.toFixed(0).padStart(9),
    );
    say(`${policy.padEnd(24)} ${cells.join(' ')}`);
  }
  const ranks = (of: (row: (typeof rows)[0]) => number) =>
    rows.map((row) => rows.filter((other) => of(other) < of(row)).length);
  const agreement = correlation(
    ranks((row) => row.simulated.e2e),
    ranks((row) => row.live.e2e),
  );
  const best = (of: (row: (typeof rows)[0]) => number) => rows.reduce((a, b) => (of(b) < of(a) ? b : a)).policy;
  const [there, here] = [best((row) => row.simulated.e2e), best((row) => row.live.e2e)];
  say(`least E2E: ${there} simulated, ${here} live; rank correlation ${agreement.toFixed(2)}`);
  return there === 'predicted-latency' && here === 'predicted-latency' && agreement >= 0.7;
}

function simulated(policy: string): Means {
  const { config, latency } = cluster(SLOW_FACTORS.length, policy, 'physics');
  const settings = { ...config, slowFactors: SLOW_FACTORS, snapshotRefreshUs: 1_000_000 };
  const { ttft_mean_ms, e2e_mean_ms } = simulate(settings, { table: newTable() }, latency).document.cluster;
  return { ttft: ttft_mean_ms, e2e: e2e_mean_ms };
}

const newTable = () => tableOf(traffic, REQUESTS, RATE, 42);

async function live(policy: string): Promise<Means> {
  const urls = SLOW_FACTORS.map((_, i) => `http://127.0.0.1:${FIRST_PORT + i}`);
  const children: ChildProcess[] = [];
  const gateway = new Gateway({
    ...GATEWAY_DEFAULTS,
    listen: { host: '127.0.0.1', port: 0, tls: null },
    admin: { host: '127.0.0.1', port: 0, tls: null },
    endpoints: [
      {
        name: 'default',
        policy: { ...DEFAULT_POLICY, name: policy },
        replicas: urls.map((url, i) => ({ id: `r${i}`, url, engine: 'emulator', models: null })),
      },
    ],
    slowStartMs: 0,
  });
  try {
    for (const [i, url] of urls.entries()) children.push(await startEngine(i, url));
    shareSpeeds(gateway);
    await gateway.start();
    await gateway.fleet.check();
    return await send(newTable(), gateway.url);
  } finally {
    await gateway.close(0);
    await Promise.all(children.map(stop));
  }
}

/** What fitted profiles would say: the gateway predicts with the model that the engines run. */
function shareSpeeds(gateway: Gateway): void {
  const { config, latency } = cluster(SLOW_FACTORS.length, 'round-robin', 'physics');
  const { profiles } = gateway.endpoints.get('default')!;
  for (const [i, factor] of SLOW_FACTORS.entries()) {
    profiles.set(`r${i}`, fakeProfile(), modelPredictor(latency, config.replica, factor / SPEED));
  }
}

async function startEngine(i: number, url: string): Promise<ChildProcess> {
  const args = ['engine', '--model', MODEL, '--hardware', 'H100', '--port', String(FIRST_PORT + i)];
  const speed = ['--speed', String(SPEED), '--slow-factor', String(SLOW_FACTORS[i])];
  const child = spawn(process.execPath, [cli, ...args, ...speed], { stdio: ['ignore', 'ignore', 'inherit'] });
  for (let tries = 0; tries < 1200; tries++) {
    const response = await fetch(`${url}/v1/models`).catch(() => null);
    if (response?.ok) return child;
    await pause(50);
  }
  child.kill('SIGKILL');
  throw new Error(`no response on ${url}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

/** Means in milliseconds of the model's time. */
async function send(table: RequestTable, url: string): Promise<Means> {
  const begun = performance.now();
  const timings = await Promise.all(
    Array.from({ length: table.count }, async (_, row) => {
      await pause(Math.max(0, table.arrivalUs[row]! / 1000 / SPEED - (performance.now() - begun)));
      const messages = [{ role: 'user', content: promptOf(table, row) }];
      const body = { model: MODEL, messages, max_tokens: table.outputTokens[row], ignore_eos: true, stream: true };
      return streamChat(url, body);
    }),
  );
  const mean = (values: number[]) => (SPEED * values.reduce((sum, value) => sum + value, 0)) / values.length;
  return {
    ttft: mean(timings.map(({ chunksMs, sentMs }) => chunksMs[0]! - sentMs)),
    e2e: mean(timings.map(({ chunksMs, sentMs }) => chunksMs.at(-1)! - sentMs)),
  };
}

/** Four bytes per token; each block has a text of its own. */
function promptOf({ blocks }: RequestTable, row: number): string {
  const textOf = (block: number) => `block ${block} of the prompt `.repeat(4).slice(0, BLOCK_TOKENS * 4);
  return Array.from({ length: blocks!.blocksOf(row) }, (_, i) => textOf(blocks!.block(row, i))).join('');
}

/** Pearson's, of ranks. */
function correlation(a: readonly number[], b: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  const sum = (of: (i: number) => number) => a.reduce((total, _, i) => total + of(i), 0);
  const [varianceA, varianceB] = [sum((i) => (a[i]! - meanA) ** 2), sum((i) => (b[i]! - meanB) ** 2)];
  return sum((i) => (a[i]! - meanA) * (b[i]! - meanB)) / Math.sqrt(varianceA * varianceB);
}
