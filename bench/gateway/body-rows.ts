import type { BenchTable } from '../bench-table.js';
import { loaded } from './measure.js';
import { processorMs } from './processor-time.js';
import { delaysOf, sendBody } from './worst-bodies.js';
import { type ScriptOptions, wrkScript } from './wrk-script.js';

/** A router under test. */
export interface Rival {
  name: string;
  port: number;
  pid: number;
}

const PATH = '/v1/chat/completions';
/** A prompt of 400 kB. */
const LONG_SENTENCES = 8900;
/** Different ones in turn: as many as the default index of four replicas holds, and more. */
const LONG_CHATS = [4, 32];
const MOST_RATIO = 1.5;
const MOST_DELAY_MS = 20;
const LONG_PER_SECOND = 20;
/** Code that V8 has not optimised yet takes several times as long. */
const WARM_UP_S = 4;

const urlOf = ({ port }: Rival) => `http://127.0.0.1:${port}${PATH}`;
const us = (ms: number) => `${(ms * 1000).toFixed(0)} us`;

/** The processor time of a request: of the router alone, whatever else runs on the machine. */
export async function processorTime(
  rival: Rival,
  script: string,
  connections: number,
  secondsLong: number,
): Promise<number> {
  const before = processorMs(rival.pid);
  const { requests } = await loaded(urlOf(rival), script, connections, secondsLong);
  return (processorMs(rival.pid) - before) / requests;
}

/** Of each router by name, the median of alternating rounds; the first round warms up. */
export async function processorTimes(
  rivals: readonly Rival[],
  script: string,
  connections: number,
  [rounds, secondsLong]: readonly [number, number],
): Promise<Map<string, number>> {
  const times = new Map<string, number[]>(rivals.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const rival of rivals) {
      const ms = await processorTime(rival, script, connections, round === 0 ? WARM_UP_S : secondsLong);
      if (round > 0) times.get(rival.name)!.push(ms);
    }
  }
  return new Map([...times].map(([name, all]) => [name, middleOf(all)]));
}

/** The median. */
const middleOf = (all: readonly number[]): number => [...all].sort((a, b) => a - b)[all.length >> 1]!;

/** Processor time per request of small prompts, at several numbers of connections. */
export async function processorRows(
  table: BenchTable,
  rivals: readonly Rival[],
  options: Pick<ScriptOptions, 'folder' | 'key'>,
  [rounds, secondsLong]: readonly [number, number],
): Promise<void> {
  for (const stream of [false, true]) {
    const script = wrkScript({ ...options, stream });
    for (const connections of [1, 8, 64]) {
      const times = await processorTimes(rivals, script, connections, [Math.min(rounds, 3), secondsLong]);
      const what = `processor time, ${stream ? 'streamed' : 'plain'}, ${connections} connections`;
      const text = [...times].map(([name, ms]) => `${name} ${us(ms)}`).join(', ');
      table.report(what, text, '', null);
    }
  }
}

/** Processor time per request of long prompts. */
export async function longRows(
  table: BenchTable,
  rivals: readonly Rival[],
  options: Pick<ScriptOptions, 'folder' | 'key'>,
  [rounds, secondsLong]: readonly [number, number],
): Promise<void> {
  for (const chats of LONG_CHATS) {
    const script = wrkScript({ ...options, sentences: LONG_SENTENCES, chats, stream: false });
    const times = await processorTimes(rivals, script, 4, [Math.min(rounds, 3), secondsLong]);
    const what = `${chats} prompts of 400 kB, processor time`;
    for (const [name, ms] of times) table.report(`${what}: ${name}`, us(ms), '', null);
    const vllm = times.get('vllm-router');
    if (vllm === undefined) continue;
    const ratio = times.get('twinyard')! / vllm;
    table.report(
      `${what}: twinyard against vllm-router`,
      `${ratio.toFixed(2)} x`,
      `<= ${MOST_RATIO} x`,
      ratio <= MOST_RATIO,
    );
  }
}

/** Small streams while long prompts arrive, against the same without. */
export async function besideRows(
  table: BenchTable,
  rivals: readonly Rival[],
  options: Pick<ScriptOptions, 'folder' | 'key'>,
  [rounds, secondsLong]: readonly [number, number],
): Promise<void> {
  const small = wrkScript({ ...options, stream: true });
  for (const rival of rivals) {
    const alone: number[] = [];
    const beside: number[] = [];
    await besideLong(rival, small, WARM_UP_S);
    for (let round = 0; round < rounds; round++) {
      alone.push((await loaded(urlOf(rival), small, 8, secondsLong)).p99Ms);
      beside.push(await besideLong(rival, small, secondsLong));
    }
    const isOwn = rival.name === 'twinyard';
    table.report(
      `8 small streams beside ${LONG_PER_SECOND} prompts of 400 kB a second: p99 against alone: ${rival.name}`,
      `${middleOf(beside).toFixed(2)} ms, ${middleOf(alone).toFixed(2)} ms`,
      isOwn ? `<= ${MOST_RATIO} x` : '',
      isOwn ? middleOf(beside) <= MOST_RATIO * middleOf(alone) : null,
    );
  }
}

/** How long the worst bodies delay other requests. */
export async function worstRows(table: BenchTable, own: Rival): Promise<void> {
  const { delays, idleMs } = await delaysOf(own.port);
  for (const { kind, worstMs } of delays)
    table.report(`beside 16 MiB of ${kind}: longest delay`, `${worstMs.toFixed(1)} ms`, '', null);
  table.report('beside nothing: longest delay', `${idleMs.toFixed(1)} ms`, '', null);
  const worst = delays.reduce((a, b) => (b.worstMs > a.worstMs ? b : a));
  table.report(
    'the worst body of 16 MiB: longest delay of another request',
    `${worst.worstMs.toFixed(1)} ms (${worst.kind})`,
    `<= ${MOST_DELAY_MS} ms`,
    worst.worstMs <= MOST_DELAY_MS,
  );
}

/** The p99 of small streams while long prompts arrive at a constant rate, sent with as little work as possible. */
async function besideLong({ port }: Rival, small: string, secondsLong: number): Promise<number> {
  const content = 'The quick brown fox jumps over the lazy dog. '.repeat(LONG_SENTENCES);
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], max_tokens: 16 }));
  const timer = setInterval(() => void sendBody(port, PATH, body), 1000 / LONG_PER_SECOND);
  try {
    return (await loaded(`http://127.0.0.1:${port}${PATH}`, small, 8, secondsLong)).p99Ms;
  } finally {
    clearInterval(timer);
  }
}
