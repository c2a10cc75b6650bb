import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { POSTGRES_PROGRAMS, startPostgres, type TestPostgres } from '../../src/store/postgres.fixture.js';
import type { BenchTable } from '../bench-table.js';
import type { Rival } from './body-rows.js';
import { type Load, loaded, median } from './measure.js';
import { processorMs } from './processor-time.js';
import { type ScriptOptions, wrkScript } from './wrk-script.js';

/** What keeping requests may add to the processor time of each, where the gateway is saturated. */
const MOST_RATIO = 1.02;
const SATURATING = 32;
const WARM_UP_S = 3;
/** A thread that was idle writes five times as many rows in its first second: a gateway under load is measured after that. */
const SETTLED_S = 2;

/** Two gateways on stores of the same kind, which differ in whether they keep requests. */
export interface KeptPair {
  readonly database: string;
  readonly without: Rival;
  readonly kept: Rival;
}

/** PostgreSQL, where it is installed. */
export const benchPostgres = (): Promise<TestPostgres | null> =>
  POSTGRES_PROGRAMS === null ? Promise.resolve(null) : startPostgres();

/** A gateway's configuration with a store that keeps requests or none. */
export function keptConfig(
  folder: string,
  name: string,
  urls: readonly string[],
  store: string,
  keepHours: number,
): string {
  const config = join(folder, `${name}.yaml`);
  const replicas = urls.map((url) => `  - url: ${url}\n`).join('');
  writeFileSync(
    config,
    `store: ${store}\ndata_dir: ${join(folder, `${name}-data`)}\nreplicas:\n${replicas}access: { keys: off }\nrequests: { keep_hours: ${keepHours} }\n`,
  );
  return config;
}

/** Processor time and throughput while requests are kept against a store without them, in the same rounds. */
export async function keptRows(
  table: BenchTable,
  pairs: readonly KeptPair[],
  options: Pick<ScriptOptions, 'folder' | 'key'>,
  [rounds, secondsLong]: readonly [number, number],
): Promise<void> {
  const script = wrkScript({ ...options, stream: false });
  const rivals = pairs.flatMap(({ kept, without }) => [without, kept]);
  for (const connections of [1, SATURATING]) {
    const [loads, times] = [new Map<Rival, Load[]>(), new Map<Rival, number[]>()];
    for (let round = 0; round <= rounds; round++) {
      for (const rival of rivals) {
        const url = `http://127.0.0.1:${rival.port}/v1/chat/completions`;
        if (round > 0) await loaded(url, script, connections, SETTLED_S);
        const before = processorMs(rival.pid);
        const load = await loaded(url, script, connections, round === 0 ? WARM_UP_S : secondsLong);
        if (round === 0) continue;
        loads.set(rival, [...(loads.get(rival) ?? []), load]);
        times.set(rival, [...(times.get(rival) ?? []), (processorMs(rival.pid) - before) / load.requests]);
      }
    }
    for (const { database, kept, without } of pairs) {
      const [time, timeWithout] = [middle(times.get(kept)!), middle(times.get(without)!)];
      const [load, loadWithout] = [median(loads.get(kept)!), median(loads.get(without)!)];
      const ratio = time / timeWithout;
      const rate = (load.perSecond / loadWithout.perSecond).toFixed(3);
      table.report(
        `requests kept in ${database}, ${connections} connections: processor time and throughput against none kept`,
        `${ratio.toFixed(3)} x (${us(time)}, ${us(timeWithout)}), ${rate} x`,
        connections === SATURATING ? `<= ${MOST_RATIO} x` : '',
        connections === SATURATING ? ratio <= MOST_RATIO && load.errors === 0 : null,
      );
    }
  }
  for (const { database, kept } of pairs) table.report(`rows kept in ${database}`, await countsOf(kept), '', null);
}

const middle = (all: readonly number[]) => [...all].sort((a, b) => a - b)[all.length >> 1]!;
const us = (ms: number) => `${(1000 * ms).toFixed(0)} us`;

async function countsOf({ port }: Rival): Promise<string> {
  const text = await (await fetch(`http://127.0.0.1:${port + 1}/metrics`)).text();
  const sum = (name: string) => new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? '?';
  return `${sum('twinyard_requests_kept_total')}, and ${sum('twinyard_requests_not_kept_total')} dropped`;
}
