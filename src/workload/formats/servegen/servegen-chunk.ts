import { readFileSync } from 'node:fs';
import { readProblem } from '../../../files/file-problem.js';
import { decodeText } from '../../../files/text-encoding.js';
import { fieldInvalid, fileUnreadable } from '../../errors.js';
import { checkedTime, shownValue } from '../records/trace-record.js';

const DAY_SECONDS = 86_400;
const PATTERNS: Readonly<Record<string, Pattern>> = {
  '': 'poisson',
  exponential: 'poisson',
  gamma: 'gamma',
  poisson: 'poisson',
  weibull: 'weibull',
};

export type Pattern = 'poisson' | 'gamma' | 'weibull';

/** What one ServeGen client does at one time of day, over all days that were recorded. */
export interface Habit {
  /** Requests per second, on average over the days; days without requests count. */
  rate: number;
  /** How the gaps vary on the days with requests: by pattern, requests per second and these times the variation. */
  patterns: Map<Pattern, { rate: number; variation: number }>;
}

/** Lengths of prompts and responses, and shares of reasoning, each with its probability. */
export interface LengthCounts {
  input: Map<number, number>;
  output: Map<number, number>;
  reasonRatio: Map<number, number> | null;
}

/** Reads `chunk-*-trace.csv`: a line per 10 minutes with start, rate, variation, pattern, and maybe shape and scale. */
export function readHabits(path: string): Map<number, Habit> {
  const habits = new Map<number, Habit & { days: number }>();
  readText(path)
    .split(/\r?\n/)
    .forEach((line, i) => {
      if (line.trim() === '') return;
      const fields = line.split(',');
      const place = (position: number) =>
        `${path}:${i + 1}:${fields.slice(0, position).join(',').length + (position > 0 ? 2 : 1)}`;
      if (fields.length !== 4 && fields.length !== 6) {
        const hint = 'give start, rate, cv and pattern, and both shape and scale or neither';
        throw fieldInvalid(place(0), `the row has ${fields.length} columns`, hint);
      }
      const numberAt = (position: number, name: string) => {
        const text = fields[position]!.trim();
        const invalid = (field: string, problem: string, hint: string) =>
          fieldInvalid(`${place(position)} (${field})`, problem, hint);
        return checkedTime({ invalid }, name, text === '' ? Number.NaN : Number(text), text);
      };
      const start = numberAt(0, 'start') % DAY_SECONDS;
      const rate = numberAt(1, 'rate');
      const variation = numberAt(2, 'cv');
      const word = fields[3]!.trim();
      const pattern = PATTERNS[word.toLowerCase()];
      if (pattern === undefined) {
        throw fieldInvalid(
          `${place(3)} (pattern)`,
          `unknown pattern ${shownValue(word)}`,
          'give Gamma, Weibull or nothing',
        );
      }
      const habit = habits.get(start) ?? { rate: 0, days: 0, patterns: new Map() };
      habits.set(start, habit);
      habit.rate = (habit.rate * habit.days + rate) / (habit.days + 1);
      habit.days++;
      if (rate === 0) return;
      const seen = habit.patterns.get(pattern) ?? { rate: 0, variation: 0 };
      habit.patterns.set(pattern, { rate: seen.rate + rate, variation: seen.variation + rate * variation });
    });
  return habits;
}

/** Reads `chunk-*-dataset.json`: by start in seconds, lengths with their probabilities; by time of day, a day each. */
export function readLengths(path: string): Map<number, LengthCounts[]> {
  const text = readText(path);
  let windows: unknown;
  try {
    windows = JSON.parse(text);
  } catch (error) {
    const before = text
      .slice(0, Number(/position (\d+)/.exec((error as Error).message)?.[1] ?? text.length))
      .split('\n');
    throw fieldInvalid(`${path}:${before.length}:${before.at(-1)!.length + 1}`, 'is not JSON', 'copy the file again');
  }
  if (typeof windows !== 'object' || windows === null || Array.isArray(windows)) {
    throw fieldInvalid(path, 'is not a JSON object', 'give windows by their start in seconds');
  }
  const byTime = new Map<number, LengthCounts[]>();
  for (const [key, window] of Object.entries(windows) as [string, Record<string, unknown> | null][]) {
    const start = Number(key);
    if (!(start >= 0)) throw fieldInvalid(`${path} (${key})`, 'is not a start in seconds', 'give a number from 0');
    const field = (name: string) => probabilities(window?.[name], `${path} (${key}.${name})`);
    const input = field('input_tokens');
    const output = field('output_tokens');
    if (input === null || output === null) continue;
    const days = byTime.get(start % DAY_SECONDS) ?? [];
    byTime.set(start % DAY_SECONDS, [...days, { input, output, reasonRatio: field('reason_ratio') }]);
  }
  return byTime;
}

/** `{100: 0.25, 200: 0.75}`, as Python writes it; null when it is absent or empty. */
function probabilities(value: unknown, place: string): Map<number, number> | null {
  if (value === undefined || value === '' || value === '{}') return null;
  const wrong = (problem: string) => fieldInvalid(place, problem, "give a text such as '{100: 0.25, 200: 0.75}'");
  if (typeof value !== 'string') throw wrong('is not a text');
  const inner = /^\s*\{(.*?),?\s*\}\s*$/s.exec(value)?.[1];
  if (inner === undefined) throw wrong(`${shownValue(value)} is not in braces`);
  const shares = new Map<number, number>();
  for (const pair of inner.split(',')) {
    const [length, share] = pair.split(':').map((part) => Number(part.trim().replaceAll('"', '') || Number.NaN));
    if (!(length! >= 0 && share! >= 0)) throw wrong(`${shownValue(pair.trim())} is not a length and its probability`);
    shares.set(length!, share!);
  }
  return shares;
}

function readText(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw fileUnreadable(path, readProblem(error));
  }
  return decodeText(bytes, path);
}
