import type { BenchTable } from '../bench-table.js';
import { loaded, median } from './measure.js';
import { processorMs } from './processor-time.js';
import { delaysOf } from './worst-bodies.js';
import { type ScriptOptions, wrkScript } from './wrk-script.js';

/** A router under test. */
export interface Rival {
  name: string;
  port: number;
  pid: number;
}

const PATH = '/v1/chat/completions';
/** A prompt of 400 kB; as many of them as the default index of four replicas holds. */
const LONG = { sentences: 8900, chats: 4 };
const MOST_RATIO = 1.5;
const MOST_DELAY_MS = 20;
const LONG_PER_SECOND = 20;
/** Code that V8 has not optimised yet takes several times as long. */
const WARM_UP_S = 4;

const urlOf = ({ port }: Rival) => `http://127.0.0.1:${port}${PATH}`;
const us = (ms: number) => `${(ms * 1000).toFixed(0)} us`;

/** The processor time of a request: of the router alone, whatever else runs on the machine. */
async function processorTime(rival: Rival, script: string, connections: number, secondsLong: number): Promise<number> {
  const before = processorMs(rival.pid);
  const { requests } = await loaded(urlOf(rival), script, connections, secondsLong);
  return (processorMs(rival.pid) - before) / requests;
}

/** Of each router by name, the median of alternating rounds; the first round warms up. */
async function processorTimes(
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
  return new Map([...times].map(([name, all]) => [name, all.sort((a, b) => a - b)[all.length >> 1]!]));
}

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

/** Long prompts, small streams beside them, and the worst bodies. */
export async function longRows(
  table: BenchTable,
  rivals: readonly Rival[],
  options: Pick<ScriptOptions, 'folder' | 'key'>,
  [rounds, secondsLong]: readonly [number, number],
): Promise<void> {
  const own = rivals.find(({ name }) => name === 'twinyard')!;
  const script = wrkScript({ ...options, ...LONG, stream: false });
  const times = await processorTimes(rivals, script, 4, [Math.min(rounds, 3), secondsLong]);
  for (const [name, ms] of times) table.report(`400 kB prompts, processor time: ${name}`, us(ms), '', null);
  const vllm = times.get('vllm-router');
  if (vllm !== undefined) {
    const ratio = times.get('twinyard')! / vllm;
    table.report(
      '400 kB prompts, processor time: twinyard against vllm-router',
      `${ratio.toFixed(2)} x`,
      `<= ${MOST_RATIO} x`,
      ratio <= MOST_RATIO,
    );
  }
  const small = wrkScript({ ...options, stream: true });
  const alone: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < rounds; round++) {
    alone.push((await loaded(urlOf(own), small, 8, secondsLong)).p99Ms);
    beside.push(await besideLong(own, small, secondsLong));
  }
  const middle = (all: number[]) => all.sort((a, b) => a - b)[all.length >> 1]!;
  const ratio = middle(beside) / middle(alone);
  table.report(
    `8 small streams beside ${LONG_PER_SECOND} prompts of 400 kB a second: p99 against alone`,
    `${middle(beside).toFixed(2)} ms, ${middle(alone).toFixed(2)} ms`,
    `<= ${MOST_RATIO} x`,
    ratio <= MOST_RATIO,
  );
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

/** The p99 of small streams while long prompts arrive at a constant rate. */
async function besideLong(own: Rival, small: string, secondsLong: number): Promise<number> {
  const content = 'The quick brown fox jumps over the lazy dog. '.repeat(LONG.sentences);
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], max_tokens: 16 });
  const headers = { 'content-type': 'application/json' };
  const timer = setInterval(() => {
    void fetch(urlOf(own), { method: 'POST', headers, body })
      .then((response) => response.arrayBuffer())
      .catch(() => null);
  }, 1000 / LONG_PER_SECOND);
  try {
    return median([await loaded(urlOf(own), small, 8, secondsLong)]).p99Ms;
  } finally {
    clearInterval(timer);
  }
}
