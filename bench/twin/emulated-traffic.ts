import { exponential } from '../../src/kernel/distributions.js';
import { randomStream, type SavableStream } from '../../src/kernel/random-stream.js';
import { RequestTable } from '../../src/workload/request-table.js';
import type { WorldTurns } from '../../test/support/recorded-world.js';

export interface EmulatedTraffic {
  table: RequestTable;
  turns?: WorldTurns;
}

/** Seconds in which requests, or sessions, begin. */
const DURATION_S = 40;

/** Kinds of traffic at about 70 % of what four of the measured replicas can do. A run uses its table up: each call creates another. */
export const EMULATED_TRAFFIC: Readonly<Record<string, (seed: number) => EmulatedTraffic>> = {
  /** 24 prefixes, the first asked for most. */
  assistants: (seed) =>
    prompts(seed, 32.4, (random) => ({ group: zipf(random, 24), ...question(random, 2000, 100, 400) })),
  /** One prefix that four of five requests begin with; the others share nothing. */
  hot: (seed) =>
    prompts(seed, 32, (random) =>
      random.next() < 0.8
        ? { group: 0, ...question(random, 2000, 50, 300) }
        : { group: -1, ...question(random, 0, 400, 1200) },
    ),
  unshared: (seed) => prompts(seed, 37.3, (random) => ({ group: -1, ...question(random, 0, 400, 1200) })),
  sessions,
};

interface Prompt {
  /** -1: it shares nothing. */
  group: number;
  prefix: number;
  tokens: number;
}

function prompts(seed: number, rate: number, next: (random: SavableStream) => Prompt): EmulatedTraffic {
  const random = randomStream(seed, 'emulated traffic');
  const table = new RequestTable();
  for (let atUs = exponential(random, 1e6 / rate); atUs < DURATION_S * 1e6; atUs += exponential(random, 1e6 / rate)) {
    const row = table.append();
    const { group, prefix, tokens } = next(random);
    table.arrivalUs[row] = Math.round(atUs);
    table.inputTokens[row] = prefix + tokens;
    table.outputTokens[row] = between(random, 100, 300);
    if (group < 0) continue;
    begins(table, row, group, prefix);
    // As clients of one assistant name it: no conversation.
    table.session[row] = table.sessions.index(`assistant-${group}`);
  }
  return { table };
}

/**
 * Sessions of three to eight turns. Every prompt repeats the session so far, with its responses; the next turn comes a pause after the
 * response.
 */
function sessions(seed: number): EmulatedTraffic {
  const random = randomStream(seed, 'emulated sessions');
  const table = new RequestTable();
  const next: number[] = [];
  const first: number[] = [];
  const pauseUs: number[] = [];
  const rate = 5.5;
  for (let atUs = exponential(random, 1e6 / rate); atUs < DURATION_S * 1e6; atUs += exponential(random, 1e6 / rate)) {
    const turns = between(random, 3, 8);
    const begin = table.count;
    let context = 256 + between(random, 100, 500);
    for (let turn = 0; turn < turns; turn++) {
      const row = table.append();
      const pause = turn === 0 ? 0 : exponential(random, 2.5e6);
      table.arrivalUs[row] = Math.round(atUs);
      table.session[row] = table.sessions.index(`session-${begin}`);
      table.round[row] = turn;
      begins(table, row, 0, 256);
      table.inputTokens[row] = context;
      table.outputTokens[row] = between(random, 100, 300);
      context += table.outputTokens[row]! + between(random, 30, 150);
      next.push(turn + 1 < turns ? row + 1 : -1);
      first.push(begin);
      pauseUs.push(pause);
    }
  }
  const turns = { next: Int32Array.from(next), first: Int32Array.from(first), pauseUs: Float64Array.from(pauseUs) };
  return { table, turns };
}

function begins(table: RequestTable, row: number, group: number, tokens: number): void {
  const index = table.prefixGroups.index(`prefix-${group}`);
  table.prefixGroup[row] = index;
  table.prefixTokens[index] = tokens;
}

function question(random: SavableStream, prefix: number, least: number, most: number) {
  return { prefix, tokens: between(random, least, most) };
}

function between(random: SavableStream, least: number, most: number): number {
  return least + random.below(most - least + 1);
}

/** The n-th is asked for as often as 1 / n ** 1.1. */
function zipf(random: SavableStream, count: number): number {
  const weights = Array.from({ length: count }, (_, i) => 1 / (i + 1) ** 1.1);
  let left = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
  for (let i = 0; i < count; i++) {
    left -= weights[i]!;
    if (left <= 0) return i;
  }
  return count - 1;
}
