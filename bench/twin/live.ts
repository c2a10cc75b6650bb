import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { trafficTable } from '../../src/twin/whatif/recorded-run.fixture.js';
import type { WhatIfDocument } from '../../src/twin/whatif/whatif-document.js';
import type { RequestTable } from '../../src/workload/request-table.js';
import { streamChat } from '../engine/stream-client.js';
import { JudgedCases } from './judged-case.js';
import { measuredMetrics } from './measured-run.js';

const MODEL = 'qwen/qwen3-14b';
const ENGINE = [
  '--model',
  MODEL,
  '--hardware',
  'H100',
  '--tp',
  '1',
  '--total-kv-blocks',
  '3000',
  '--max-num-seqs',
  '64',
];
/**
 * The engines run at a fraction of their speed, so that two cores hold them, the gateway and the client, and delays of the machine
 * are small. All seeds take about 18 minutes.
 */
const SPEED = 0.4;
/** Requests per second: the same load of the engines at any speed. */
const RATE = 25 * SPEED;
const REQUESTS = 264;
const WARM_UPS = 10;
const BLOCK = 64;
const FIRST_PORT = 9721;
const GATEWAY_PORT = 9731;
const cli = fileURLToPath(new URL('../../../dist/bundle/main.js', import.meta.url));

/**
 * Real time on loopback: emulated engines, a gateway that records, traffic with shared prefixes through round-robin. From the
 * recording alone `twinyard whatif` predicts lmetric, and three replicas; then both serve the same traffic.
 * @param seeds two cases each
 */
export async function live(seeds: number, say: (line: string) => void, keep?: string): Promise<boolean> {
  const folder = keep ?? mkdtempSync(join(tmpdir(), 'twinyard-twin-'));
  mkdirSync(folder, { recursive: true });
  const cases = new JudgedCases(say);
  try {
    for (let seed = 1; seed <= seeds; seed++) {
      const table = trafficTable({ seed, requests: REQUESTS, rate: RATE, prefixes: 24 });
      const recording = await recorded(table, 'round-robin', 4, join(folder, `${seed}-round-robin`));
      const [lmetric, three] = await Promise.all([
        asked(recording, 'lmetric'),
        asked(recording, 'round-robin', '--replicas', '3'),
      ]);
      const served = await recorded(table, 'lmetric', 4, join(folder, `${seed}-lmetric`));
      cases.add(`seed ${seed}, lmetric`, lmetric.alternatives[0]!, await measuredMetrics(served));
      const smaller = await recorded(table, 'round-robin', 3, join(folder, `${seed}-three`));
      cases.add(`seed ${seed}, 3 replicas`, three.alternatives[0]!, await measuredMetrics(smaller));
    }
  } finally {
    if (keep === undefined) rmSync(folder, { recursive: true });
  }
  return cases.report();
}

async function asked(recording: string, policy: string, ...more: string[]): Promise<WhatIfDocument> {
  const args = [
    'whatif',
    '--recording',
    recording,
    ...ENGINE,
    '--policy',
    policy,
    '--router-block-size',
    String(BLOCK),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args, ...more], { maxBuffer: 1e8 });
  return JSON.parse(stdout) as WhatIfDocument;
}

/** Sends the traffic through a gateway with this policy; returns its recording. */
async function recorded(table: RequestTable, policy: string, replicas: number, name: string): Promise<string> {
  const children: ChildProcess[] = [];
  const urls = Array.from({ length: replicas }, (_, i) => `http://127.0.0.1:${FIRST_PORT + i}`);
  const recording = `${name}.jsonl`;
  const config = {
    replicas: urls.map((url) => ({ url, engine: 'emulator' })),
    record: recording,
    policy: { routing: { policy, block_size: BLOCK } },
  };
  writeFileSync(`${name}.yaml`, JSON.stringify(config));
  try {
    const flags = ['engine', ...ENGINE, '--speed', String(SPEED)];
    await Promise.all(urls.map((url, i) => start([...flags, '--port', String(FIRST_PORT + i)], url, children)));
    await Promise.all(urls.map(warmUp));
    const url = `http://127.0.0.1:${GATEWAY_PORT}`;
    const ports = ['--port', String(GATEWAY_PORT), '--admin-port', String(GATEWAY_PORT + 1)];
    await start(['serve', '-c', `${name}.yaml`, ...ports], url, children);
    await send(table, url);
  } finally {
    await Promise.all(children.reverse().map(stop));
  }
  return recording;
}

/** A process that has served nothing yet compiles its code first. Prompts of the traffic stay cold. */
async function warmUp(url: string): Promise<void> {
  for (let round = 0; round < WARM_UPS; round++) {
    const messages = [{ role: 'user', content: `warm-up ${round} `.repeat(300) }];
    await streamChat(url, { model: MODEL, messages, max_tokens: 8, ignore_eos: true, stream: true });
  }
}

async function send(table: RequestTable, url: string): Promise<void> {
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: table.count }, async (_, row) => {
      await pause(Math.max(0, table.arrivalUs[row]! / 1000 - (performance.now() - begun)));
      const messages = [{ role: 'user', content: promptOf(table, row) }];
      const body = { model: MODEL, messages, max_tokens: table.outputTokens[row], ignore_eos: true, stream: true };
      return streamChat(url, { ...body, stream_options: { include_usage: true } });
    }),
  );
}

/** Four bytes per token. */
function promptOf(table: RequestTable, row: number): string {
  const shared = table.prefixTokens[table.prefixGroup[row]!] ?? 0;
  const prefix = `assistant ${table.prefixGroup[row]} `.repeat(shared).slice(0, 4 * shared);
  return prefix + `question ${row} `.repeat(400).slice(0, 4 * (table.inputTokens[row]! - shared));
}

/** Starts a process and waits until it serves. @param children gets it at once, so that it is stopped in any case */
async function start(args: readonly string[], url: string, children: ChildProcess[]): Promise<void> {
  children.push(spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'ignore', 'inherit'] }));
  for (let tries = 0; tries < 1200; tries++) {
    const response = await fetch(`${url}/v1/models`).catch(() => null);
    if (response?.ok) return;
    await pause(50);
  }
  throw new Error(`${args[0]}: no response on ${url}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}
