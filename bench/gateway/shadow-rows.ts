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
/** Numbers of shadows: those with some are compared with the mean of both without, which differ by chance. */
const COUNTS = [0, 1, POLICIES.length, 0] as const;
const NAMES = ['none', 'a shadow', 'three shadows', 'none again'];

/** A gateway whose shadows are set by its API; its admin port is the next one. */
export interface ShadowedRival extends Rival {
  token: string;
}

/**
 * Processor time per request with shadows against none: shadows are added to and removed from one gateway, so that both are the same
 * process with the same compiled code. Each figure is the ratio of the best rounds, with how many decisions the shadows had no time
 * for; then how late the event loop was and how much memory they took.
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
    const times = COUNTS.map((): number[] => []);
    const shares = COUNTS.map(() => ({ made: 0, dropped: 0 }));
    for (let round = 0; round <= rounds; round++) {
      for (let i = 0; i < COUNTS.length; i++) {
        const at = (round + i) % COUNTS.length;
        await setShadows(rival, COUNTS[at]!);
        await loaded(url, script, connections, SETTLED_S);
        const before = await sumsOf(rival);
        const ms = await processorTime(rival, script, connections, secondsLong);
        const after = await sumsOf(rival);
        // The first round warms up.
        if (round === 0) continue;
        times[at]!.push(ms);
        shares[at]!.made += after.made - before.made;
        shares[at]!.dropped += after.dropped - before.dropped;
        const side = COUNTS[at] === 0 ? 'without' : 'with';
        late.looks[side] += after.looks - before.looks;
        late[side] += after.looks - after.prompt - before.looks + before.prompt;
      }
    }
    // Whatever else the machine does only adds: the least of the rounds is compared.
    const best = times.map((all) => Math.min(...all));
    const without = (best[0]! + best.at(-1)!) / 2;
    for (let at = 1; at < COUNTS.length; at++) {
      const ratio = best[at]! / (COUNTS[at] === 0 ? best[0]! : without);
      const { dropped, made } = shares[at]!;
      const most = 1 + COUNTS[at]! * MOST_ADDED;
      const what = `processor time against no shadow, ${connections} connections: ${NAMES[at]}`;
      if (COUNTS[at] === 0) table.report(what, `${ratio.toFixed(3)} x`, '', null);
      else {
        const share = ((100 * dropped) / Math.max(1, made + dropped)).toFixed(0);
        const measured = `${ratio.toFixed(3)} x, ${share} % of decisions dropped`;
        table.report(what, measured, `<= ${most.toFixed(2)} x`, ratio <= most);
      }
    }
  }
  const shareOf = (side: 'with' | 'without') => `${((100 * late[side]) / Math.max(1, late.looks[side])).toFixed(1)} %`;
  table.report('event loop more than 10 ms late', `${shareOf('with')}, ${shareOf('without')} without`, '', null);
  const most = POLICIES.length * MOST_BYTES;
  table.report('memory of three shadows', `${(added / 1e6).toFixed(0)} MB`, `<= ${most / 1e6} MB`, added <= most);
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
