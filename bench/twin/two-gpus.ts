import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS } from '../../src/gateway/config/gateway-config.js';
import { Gateway } from '../../src/gateway/gateway.js';
import type { LatencyProfile } from '../../src/replica/latency/profile.js';
import type { PolicyChoice } from '../../src/simulator/cluster-config.js';
import { fitHere } from '../../src/twin/profiles/fit/fit-thread.js';
import { gatewayProfiles } from '../../src/twin/profiles/start-profiles.js';
import type { RequestTable } from '../../src/workload/request-table.js';
import { messagesOf } from '../../test/support/recorded-world.js';
import { BLOCK_TOKENS } from '../default-policy/workloads.js';
import { streamChat } from '../engine/stream-client.js';
import { SEED, SIGNALS_US, SLOW_FACTORS, type Times } from './unlike-fleet.js';

/** What their replicas are named after: each has a profile of its own. */
const GPUS = ['fast', 'slow'] as const;
const MODEL = 'qwen/qwen3-14b';
const FIRST_PORT = 9741;
const cli = fileURLToPath(new URL('../../../dist/bundle/main.js', import.meta.url));

export const LIVE_PREFIX = 'r';

export type GpuProfiles = ReadonlyMap<string, LatencyProfile>;

/** Serves traffic under round-robin, and returns the profiles that the gateway fits to it, by engine. */
export function fittedProfiles(table: RequestTable, say: (line: string) => void): Promise<GpuProfiles> {
  return withGateway({ policy: 'round-robin', options: {} }, async (gateway) => {
    // Fits as `serve` makes them, without the pauses of their thread: nothing else runs meanwhile.
    const book = gatewayProfiles(gateway, { makeFit: async (job) => ({ ...(await fitHere(job)), restMs: 0 }) });
    await book.tick();
    await send(table, gateway.url);
    for (const _ of GPUS) {
      await book.tick();
      await book.settled();
    }
    await book.tick();
    const found = new Map<string, LatencyProfile>();
    for (const { engine, problem, profile, score } of book.states()) {
      if (profile === null || problem !== '') throw new Error(`${engine} has no profile: ${problem}`);
      const off = (share: number) => `${(100 * share).toFixed(1)} %`;
      say(
        `fitted ${engine}: TTFT ${off(score!.ttft)}, ITL ${off(score!.itl)}, E2E ${off(score!.e2e)} off on newer requests`,
      );
      found.set(engine, profile);
    }
    return found;
  });
}

/** Serves traffic with a policy and these profiles, on engines whose caches are cold. */
export function liveTimes(routing: PolicyChoice, table: RequestTable, profiles: GpuProfiles): Promise<Times> {
  return withGateway(routing, (gateway) => {
    const book = gatewayProfiles(gateway);
    for (const [engine, profile] of profiles) book.pin('default', engine, { isPinned: true, profile });
    return send(table, gateway.url);
  });
}

async function withGateway<Result>(
  { options, policy }: PolicyChoice,
  use: (gateway: Gateway) => Promise<Result>,
): Promise<Result> {
  const urls = SLOW_FACTORS.map((_, i) => `http://127.0.0.1:${FIRST_PORT + i}`);
  const children: ChildProcess[] = [];
  const gateway = new Gateway({
    ...GATEWAY_DEFAULTS,
    listen: { host: '127.0.0.1', port: 0, tls: null },
    admin: { host: '127.0.0.1', port: 0, tls: null },
    endpoints: [
      {
        name: 'default',
        policy: { ...DEFAULT_POLICY, name: policy, options, blockSize: BLOCK_TOKENS },
        replicas: urls.map((url, i) => ({
          id: `${LIVE_PREFIX}${i}`,
          url,
          engine: 'emulator',
          models: null,
          hardware: GPUS[i]!,
        })),
      },
    ],
    seed: SEED,
    signals: { ...GATEWAY_DEFAULTS.signals, intervalMs: SIGNALS_US / 1000 },
    slowStartMs: 0,
  });
  try {
    for (const [i, url] of urls.entries()) children.push(await startEngine(i, url));
    await gateway.start();
    await gateway.fleet.check();
    return await use(gateway);
  } finally {
    await gateway.close(0);
    await Promise.all(children.map(stop));
  }
}

async function startEngine(i: number, url: string): Promise<ChildProcess> {
  const args = ['engine', '--model', MODEL, '--hardware', 'H100', '--port', String(FIRST_PORT + i)];
  const speed = ['--slow-factor', String(SLOW_FACTORS[i])];
  const child = spawn(process.execPath, [cli, ...args, ...speed], { stdio: 'ignore' });
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

/** When all have their last token. */
async function send(table: RequestTable, url: string): Promise<Times> {
  const begun = performance.now();
  const timings = await Promise.all(
    Array.from({ length: table.count }, async (_, row) => {
      await pause(Math.max(0, table.arrivalUs[row]! / 1000 - (performance.now() - begun)));
      const messages = messagesOf(table, row);
      const body = { model: MODEL, messages, max_tokens: table.outputTokens[row], ignore_eos: true, stream: true };
      return streamChat(url, body);
    }),
  );
  return {
    ttft: timings.map(({ chunksMs, sentMs }) => chunksMs[0]! - sentMs),
    e2e: timings.map(({ chunksMs, sentMs }) => chunksMs.at(-1)! - sentMs),
  };
}
