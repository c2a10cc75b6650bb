import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { workloadFolderInvalid } from '../../errors.js';
import type { WorkloadSpec } from '../../spec/workload-spec.js';
import { type Habit, type LengthCounts, readHabits, readLengths } from './servegen-chunk.js';
import { CohortSum } from './servegen-cohort.js';

const SECOND_US = 1_000_000;
/** Each period is represented by ten minutes of it, with three minutes between them for what is still running. */
const WINDOW_US = 600 * SECOND_US;
const PAUSE_US = 180 * SECOND_US;
const SLO_CLASSES = ['critical', 'standard', 'batch', 'sheddable', 'background'];
/** Seconds of the day. */
const PERIODS = [
  { name: 'midnight', from: 0, to: 1800 },
  { name: 'morning', from: 28_800, to: 30_600 },
  { name: 'afternoon', from: 50_400, to: 52_200 },
];
const WHOLE_DAY = [{ name: 'reasoning', from: 0, to: 86_400 }];
const TRACE_FILE = /^chunk-(.+)-trace\.csv$/;

/** One client of ServeGen. */
interface Chunk {
  habits: Map<number, Habit>;
  dataset: string;
}

/** Whether a path is a folder of ServeGen's data. */
export function isServeGen(folder: string): boolean {
  return chunkIds(folder).length > 0;
}

/**
 * The workload of a ServeGen folder: for three periods of the day, or for the busiest time in reasoning data, five
 * cohorts, one per SLO class. A period's clients are assigned to the classes in turn; a cohort has the sum of its
 * clients' rates and one lognormal distribution of their lengths.
 */
export function readServeGen(folder: string): WorkloadSpec {
  const chunks = readChunks(folder);
  const isReasoning = [...readLengths(chunks[0]!.dataset).values()].flat().some((one) => one.reasonRatio !== null);
  const periods = (isReasoning ? WHOLE_DAY : PERIODS).map(({ from, name, to }) => ({
    name,
    time: busiestTime(chunks, from, to),
    dealt: 0,
    cohorts: SLO_CLASSES.map((sloClass) => new CohortSum(sloClass)),
  }));
  for (const { dataset, habits } of chunks) {
    let lengths: Map<number, LengthCounts[]> | null = null;
    for (const period of periods) {
      const habit = habits.get(period.time);
      if (habit === undefined || habit.rate === 0) continue;
      lengths ??= readLengths(dataset);
      period.cohorts[period.dealt++ % SLO_CLASSES.length]!.add(habit, lengthsAt(lengths, period.time), dataset);
    }
  }
  const cohorts = periods.flatMap(({ cohorts: sums, name, time }, i) =>
    sums.flatMap((sum) => sum.spec(name, time, i * (WINDOW_US + PAUSE_US), WINDOW_US) ?? []),
  );
  if (cohorts.length === 0) {
    const when = isReasoning ? 'at any time' : 'in the half hours from 0:00, 8:00 or 14:00';
    throw workloadFolderInvalid(folder, `no client is active ${when}`, 'give a folder with rates above 0');
  }
  return { version: '2', seed: 42, category: isReasoning ? 'reasoning' : 'language', cohorts, aggregate_rate: 0 };
}

function readChunks(folder: string): Chunk[] {
  const ids = chunkIds(folder);
  if (ids.length === 0) {
    const hint = 'give the folder of one model, such as data/language/m-large';
    throw workloadFolderInvalid(folder, 'has no chunk-*-trace.csv', hint);
  }
  return ids.map((id) => ({
    habits: readHabits(join(folder, `chunk-${id}-trace.csv`)),
    dataset: join(folder, `chunk-${id}-dataset.json`),
  }));
}

/** In order of their numbers, for any order of the folder. */
function chunkIds(folder: string): string[] {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return [];
  const ids = readdirSync(folder).flatMap((name) => TRACE_FILE.exec(name)?.[1] ?? []);
  return ids.sort((a, b) => Number(a) - Number(b) || (a < b ? -1 : 1));
}

/** The time between two at which most clients are active; the earliest of them. */
function busiestTime(chunks: readonly Chunk[], from: number, to: number): number {
  const active = new Map<number, number>();
  for (const { habits } of chunks) {
    for (const [time, { rate }] of habits) {
      if (time >= from && time < to && rate > 0) active.set(time, (active.get(time) ?? 0) + 1);
    }
  }
  return [...active].sort(([a, m], [b, n]) => n - m || a - b)[0]?.[0] ?? from;
}

/** Lengths are recorded every six hours: those of the last time at or before this one. */
function lengthsAt(lengths: ReadonlyMap<number, LengthCounts[]>, time: number): readonly LengthCounts[] {
  const before = [...lengths.keys()].filter((start) => start <= time);
  return lengths.get(Math.max(...before)) ?? [];
}
