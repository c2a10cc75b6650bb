import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchTable } from '../bench-table.js';
import { processorTimes, type Rival } from './body-rows.js';
import { type ScriptOptions, wrkScript } from './wrk-script.js';

/** What each shadow may add to the processor time of a request, and to the memory of a gateway. */
const MOST_ADDED = 0.1;
const MOST_BYTES = 32e6;

/** Policies that read prefixes, load and sessions. */
export const SHADOW_POLICIES = ['lmetric', 'weighted', 'unified'];

/** A gateway with shadows; its admin port is the next one. */
export interface ShadowedRival extends Rival {
  shadows: number;
}

/** A gateway's configuration with the first of these policies as shadows. */
export function shadowConfig(folder: string, urls: readonly string[], count: number): string {
  const config = join(folder, `shadows-${count}.yaml`);
  const replicas = urls.map((url) => `  - url: ${url}\n`).join('');
  const shadows = SHADOW_POLICIES.slice(0, count).map((policy) => `    - policy: ${policy}\n`);
  writeFileSync(config, `replicas:\n${replicas}policy:\n  shadow:\n${shadows.join('')}`);
  return config;
}

/**
 * Processor time per request with shadows against none, in the same rounds, and how many decisions the shadows had no time for; then
 * how late the event loop was and how much memory each gateway has.
 * @param without the same gateway without a shadow
 */
export async function shadowRows(
  table: BenchTable,
  without: Rival,
  shadowed: readonly ShadowedRival[],
  options: Pick<ScriptOptions, 'folder' | 'key'>,
  [rounds, secondsLong]: readonly [number, number],
): Promise<void> {
  const script = wrkScript({ ...options, stream: false });
  const started = new Map<Rival, Sums>();
  for (const rival of [without, ...shadowed]) started.set(rival, await sumsOf(rival));
  for (const connections of [1, 8, 64]) {
    const before = await Promise.all(shadowed.map(sumsOf));
    const times = await processorTimes([without, ...shadowed], script, connections, [rounds, secondsLong]);
    const after = await Promise.all(shadowed.map(sumsOf));
    shadowed.forEach(({ name, shadows }, i) => {
      const ratio = times.get(name)! / times.get(without.name)!;
      const made = after[i]!.made - before[i]!.made;
      const dropped = after[i]!.dropped - before[i]!.dropped;
      const share = ((100 * dropped) / Math.max(1, made + dropped)).toFixed(0);
      const most = 1 + shadows * MOST_ADDED;
      table.report(
        `processor time against no shadow, ${connections} connections: ${name}`,
        `${ratio.toFixed(3)} x, ${share} % of decisions dropped`,
        `<= ${most.toFixed(2)} x`,
        ratio <= most,
      );
    });
  }
  const plain = await sumsOf(without);
  const plainLate = lateShare(started.get(without)!, plain);
  for (const rival of shadowed) {
    const ended = await sumsOf(rival);
    const bytes = ended.bytes - plain.bytes;
    const late = `${lateShare(started.get(rival)!, ended)}, ${plainLate} without`;
    table.report(`event loop more than 10 ms late: ${rival.name}`, late, '', null);
    table.report(
      `memory above that without shadows: ${rival.name}`,
      `${(bytes / 1e6).toFixed(0)} MB`,
      `<= ${(rival.shadows * MOST_BYTES) / 1e6} MB`,
      bytes <= rival.shadows * MOST_BYTES,
    );
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

function lateShare(before: Sums, after: Sums): string {
  const looks = after.looks - before.looks;
  return `${((100 * (looks - (after.prompt - before.prompt))) / Math.max(1, looks)).toFixed(1)} %`;
}
