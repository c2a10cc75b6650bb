import { percentile } from '../../src/kernel/percentile.js';
import type { BenchTable } from '../bench-table.js';
import { processorTime, type Rival } from './body-rows.js';
import { loaded } from './measure.js';
import { type ScriptOptions, wrkScript } from './wrk-script.js';

/** What each shadow may add to the processor time of a request, and to the memory of a gateway. */
const MOST_ADDED = 0.1;
const MOST_BYTES = 32e6;
/** A shadow begins with time that is saved up, and with books that are empty: it is measured after this. */
const SETTLED_S = 1;
/** Code that V8 has not optimised yet takes several times as long. */
const WARM_UP_S = 4;

/** Policies that read prefixes, load and sessions. */
const POLICIES = ['lmetric', 'weighted', 'unified'];
/** Numbers of shadows, in the order of a round: each has a time without any right before and after it. */
const ROUND = [0, 1, 0, POLICIES.length] as const;
const NAMES = new Map([
  [0, 'none, against none'],
  [1, 'a shadow'],
  [POLICIES.length, 'three shadows'],
]);

/** A gateway whose shadows are set by its API; its admin port is the next one. */
export interface ShadowedRival extends Rival {
  token: string;
}

/** What was measured with a number of shadows: its times against those beside it, and decisions. */
interface Measured {
  ratios: number[];
  made: number;
  dropped: number;
}

/**
 * Processor time per request with shadows against none: shadows are added to and removed from one gateway, so that both are the same
 * process with the same compiled code. The speed of a machine wanders by more than a shadow costs, so each time is compared with the
 * mean of the two without shadows right before and after it. The figure is the median of all rounds, with the interval that holds the
 * true median in 95 of 100 cases; the bound holds where all of the interval is below it. Then how late the event loop was, and memory.
 */
export async function shadowRows(
  table: BenchTable,
  rival: ShadowedRival,
  options: Pick<ScriptOptions, 'folder' | 'key'>,
  [rounds, secondsLong]: readonly [number, number],
): Promise<void> {
  const script = wrkScript({ ...options, stream: false });
  const url = `http://127.0.0.1:${rival.port}/v1/chat/completions`;
  await loaded(url, script, 8, WARM_UP_S);
  const { bytes } = await sumsOf(rival);
  await setShadows(rival, POLICIES.length);
  await loaded(url, script, 8, WARM_UP_S);
  const added = (await sumsOf(rival)).bytes - bytes;
  const late = { with: 0, without: 0, looks: { with: 0, without: 0 } };
  for (const connections of [1, 8, 64]) {
    const measured = new Map([...NAMES.keys()].map((count): [number, Measured] => [count, nothingMeasured()]));
    const timeOf = async (count: number): Promise<number> => {
      await setShadows(rival, count);
      await loaded(url, script, connections, SETTLED_S);
      const before = await sumsOf(rival);
      const ms = await processorTime(rival, script, connections, secondsLong);
      const after = await sumsOf(rival);
      const sums = measured.get(count)!;
      sums.made += after.made - before.made;
      sums.dropped += after.dropped - before.dropped;
      const side = count === 0 ? 'without' : 'with';
      late.looks[side] += after.looks - before.looks;
      late[side] += after.looks - after.prompt - before.looks + before.prompt;
      return ms;
    };
    const times: number[] = [];
    for (let i = 0; i <= rounds * ROUND.length; i++) times.push(await timeOf(ROUND[i % ROUND.length]!));
    for (let i = 1; i + 1 < times.length; i++) {
      const count = ROUND[i % ROUND.length]!;
      // Every second time is without shadows.
      const beside = count === 0 ? 2 : 1;
      if (i < beside || i + beside >= times.length) continue;
      measured.get(count)!.ratios.push((2 * times[i]!) / (times[i - beside]! + times[i + beside]!));
    }
    for (const [count, { dropped, made, ratios }] of measured) {
      const { high, low, middle } = medianInterval(ratios);
      const range = `${middle.toFixed(3)} x (${low.toFixed(3)} to ${high.toFixed(3)})`;
      const what = `processor time against no shadow, ${connections} connections: ${NAMES.get(count)}`;
      if (count === 0) {
        table.report(what, range, '', null);
        continue;
      }
      const most = 1 + count * MOST_ADDED;
      const share = ((100 * dropped) / Math.max(1, made + dropped)).toFixed(0);
      table.report(what, `${range}, ${share} % of decisions dropped`, `<= ${most.toFixed(2)} x`, high <= most);
    }
  }
  const shareOf = (side: 'with' | 'without') => `${((100 * late[side]) / Math.max(1, late.looks[side])).toFixed(1)} %`;
  table.report('event loop more than 10 ms late', `${shareOf('with')}, ${shareOf('without')} without`, '', null);
  const most = POLICIES.length * MOST_BYTES;
  table.report('memory of three shadows', `${(added / 1e6).toFixed(0)} MB`, `<= ${most / 1e6} MB`, added <= most);
}

function nothingMeasured(): Measured {
  return { ratios: [], made: 0, dropped: 0 };
}

/** The median, and the two values between which the true one is with 95 % certainty, whatever the distribution. */
function medianInterval(values: readonly number[]): { low: number; middle: number; high: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const most = sorted.length - 1;
  // Of n values, the number below the median is about normal: mean n / 2, deviation sqrt(n) / 2.
  const rank = Math.max(0, Math.floor(sorted.length / 2 - 0.98 * Math.sqrt(sorted.length)));
  return { low: sorted[rank]!, middle: percentile(sorted, 50), high: sorted[most - rank]! };
}

/** The gateway has the first of the policies as shadows. */
async function setShadows({ port, token }: ShadowedRival, count: number): Promise<void> {
  const all = `http://127.0.0.1:${port + 1}/api/v1/workspaces/default/endpoints/default/shadows`;
  const headers = { authorization: `Bearer ${token}` };
  const { items } = (await (await fetch(all, { headers })).json()) as { items: { name: string }[] };
  for (const { name } of items) await fetch(`${all}/${name}`, { method: 'DELETE', headers });
  for (const policy of POLICIES.slice(0, count)) {
    const added = await fetch(`${all}/${policy}`, { method: 'PUT', headers, body: JSON.stringify({ policy }) });
    if (!added.ok) throw new Error(`shadow ${policy} was not added: ${await added.text()}`);
  }
}

/** Figures of a gateway so far. */
interface Sums {
  /** Decisions of its shadows. */
  made: number;
  dropped: number;
  /** Looks at the event loop, and how many of them were not more than 10 ms late. */
  looks: number;
  prompt: number;
  bytes: number;
}

async function sumsOf({ port }: Rival): Promise<Sums> {
  const text = await (await fetch(`http://127.0.0.1:${port + 1}/metrics`)).text();
  const sum = (pattern: RegExp) => [...text.matchAll(pattern)].reduce((all, [, value]) => all + Number(value), 0);
  return {
    made: sum(/^twinyard_shadow_decisions_total\{[^}]*placements="real"[^}]*\} (\d+)$/gm),
    dropped: sum(/^twinyard_shadow_dropped_total\{[^}]*\} (\d+)$/gm),
    looks: sum(/^twinyard_event_loop_lag_seconds_count (\d+)$/gm),
    prompt: sum(/^twinyard_event_loop_lag_seconds_bucket\{le="0.01"\} (\d+)$/gm),
    bytes: sum(/^process_resident_memory_bytes (\S+)$/gm),
  };
}
