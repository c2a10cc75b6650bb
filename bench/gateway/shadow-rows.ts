import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchTable } from '../bench-table.js';
import { processorTimes, type Rival } from './body-rows.js';
import { type ScriptOptions, wrkScript } from './wrk-script.js';

/** What one shadow may add to the processor time of a request. */
const MOST_RATIO = 1.1;

/** A gateway's configuration with a shadow policy that reads prefixes and load. */
export function shadowConfig(folder: string, urls: readonly string[]): string {
  const config = join(folder, 'shadow.yaml');
  const replicas = urls.map((url) => `  - url: ${url}`).join('\n');
  writeFileSync(config, `replicas:\n${replicas}\npolicy:\n  shadow:\n    - policy: lmetric\n`);
  return config;
}

/**
 * Processor time per request with a shadow against none, in the same rounds, and how many decisions the shadow had no time for.
 * @param without the same gateway without a shadow
 */
export async function shadowRows(
  table: BenchTable,
  without: Rival,
  shadowed: Rival,
  options: Pick<ScriptOptions, 'folder' | 'key'>,
  [rounds, secondsLong]: readonly [number, number],
): Promise<void> {
  const script = wrkScript({ ...options, stream: false });
  for (const connections of [1, 8, 64]) {
    const before = await decisionsOf(shadowed);
    const times = await processorTimes([without, shadowed], script, connections, [rounds, secondsLong]);
    const after = await decisionsOf(shadowed);
    const ratio = times.get(shadowed.name)! / times.get(without.name)!;
    const made = after.made - before.made;
    const dropped = after.dropped - before.dropped;
    const share = ((100 * dropped) / (made + dropped)).toFixed(0);
    table.report(
      `processor time with one shadow against none, ${connections} connections`,
      `${ratio.toFixed(3)} x, ${share} % of decisions dropped`,
      `<= ${MOST_RATIO} x`,
      ratio <= MOST_RATIO,
    );
  }
}

/** Decisions of the shadow so far. Its admin port is the next one. */
async function decisionsOf({ port }: Rival): Promise<{ made: number; dropped: number }> {
  const text = await (await fetch(`http://127.0.0.1:${port + 1}/metrics`)).text();
  const sum = (pattern: RegExp) => [...text.matchAll(pattern)].reduce((all, [, value]) => all + Number(value), 0);
  return {
    made: sum(/^twinyard_shadow_decisions_total\{[^}]*placements="real"[^}]*\} (\d+)$/gm),
    dropped: sum(/^twinyard_shadow_dropped_total\{[^}]*\} (\d+)$/gm),
  };
}
