import { afterEach } from 'vitest';
import type { EngineOptions } from '../../src/emulator/engine-options.js';
import { type RunningEngine, startEngine } from '../../src/emulator/start-engine.js';
import { JumpingClock } from '../../src/emulator/virtual-clocks.fixture.js';
import { fakeConfig, fakeLatency } from '../../src/replica/fake-replica.fixture.js';

const running: RunningEngine[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((engine) => engine.close()));
});

/** A small fast engine on a free port, closed after the test. Its virtual time jumps to the next event. */
export async function fakeEngine(changes: Partial<EngineOptions> = {}): Promise<RunningEngine> {
  const engine = await startEngine({
    config: fakeConfig({ totalKvBlocks: 1000, maxNumSeqs: 64 }),
    latency: fakeLatency({ queueingUs: 100, outputTokenUs: 1, postDecodeUs: 5 }),
    clock: new JumpingClock(),
    ...changes,
  });
  running.push(engine);
  return engine;
}

/** Resolves as soon as a condition holds. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

/** Sends a JSON body. */
export function post(engine: RunningEngine, path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(engine.url + path, { method: 'POST', body: text, ...init });
}

/** The fields of responses; each has some of them. */
export interface Reply {
  choices: {
    index: number;
    text: string;
    message: { content: string };
    finish_reason: string | null;
    stop_reason: string | null;
  }[];
  usage: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    prompt_tokens_details: { cached_tokens: number };
  };
  error: { message: string; type: string; param: string | null; code: number };
  data: { id: string; score: number }[];
  results: { index: number; document: { text: string } }[];
  tokens: number[];
  count: number;
  max_model_len: number;
}

export async function reply(response: Response | Promise<Response>): Promise<Reply> {
  return (await (await response).json()) as Reply;
}

/** A chat completion of one message. */
export function question(content: string, more: object = {}): object {
  return { model: 'tiny', messages: [{ role: 'user', content }], ...more };
}

/** What `GET /metrics` says of a metric with these labels, all its samples added up. */
export async function metric(engine: RunningEngine, name: string, label = ''): Promise<number> {
  const text = await (await fetch(`${engine.url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(label));
  if (lines.length === 0) throw new Error(`no ${name}`);
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
