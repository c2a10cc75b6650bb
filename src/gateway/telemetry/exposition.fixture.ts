import { expect } from 'vitest';
import { FAMILIES } from './metric-families.js';
import type { MetricFamily } from './metric-family.js';

const LABELS = /^\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"(?:,(?!\})|(?=\})))+\}$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"/g;
const SAMPLE = /^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)$/;
const VALUE = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/;

/** Samples by name and labels as written in the text. */
export type Samples = ReadonlyMap<string, number>;

/**
 * Parses an exposition more strictly than Prometheus does: every family is known and appears once with its help and
 * type, its samples follow directly, none of them twice, with exactly its labels; counters are not negative, and the
 * buckets of a histogram grow, end at +Inf and agree with its count.
 */
export function parseExposition(text: string): Samples {
  const known = new Map<string, MetricFamily>(Object.values(FAMILIES).map((family) => [family.name, family]));
  const samples = new Map<string, number>();
  const told = new Set<string>();
  let current: MetricFamily | undefined;
  expect(text.endsWith('\n')).toBe(true);
  for (const line of text.slice(0, -1).split('\n')) {
    const [, comment, of = '', rest] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (comment === 'HELP') {
      expect(told.has(of), line).toBe(false);
      told.add(of);
      current = known.get(of);
      expect(rest, line).toBe(current?.help);
    } else if (comment === 'TYPE') {
      expect([of, rest], line).toEqual([current?.name, current?.type]);
    } else {
      const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
      expect(value, line).toMatch(VALUE);
      if (labels !== '') expect(labels, line).toMatch(LABELS);
      expectOf(current!, name, namesIn(labels), line);
      expect(samples.has(name + labels), line).toBe(false);
      samples.set(name + labels, Number(value));
      if (current!.type !== 'gauge') expect(Number(value), line).toBeGreaterThanOrEqual(0);
    }
  }
  for (const name of told) if (known.get(name)!.type === 'histogram') expectBuckets(name, samples);
  return samples;
}

function expectOf({ labels, name, type }: MetricFamily, given: string, names: readonly string[], line: string): void {
  if (type !== 'histogram') expect([given, names], line).toEqual([name, labels]);
  else {
    expect([`${name}_bucket`, `${name}_sum`, `${name}_count`], line).toContain(given);
    expect(names, line).toEqual(given.endsWith('_bucket') ? [...labels, 'le'] : labels);
  }
}

function namesIn(labels: string): string[] {
  return [...labels.matchAll(LABEL)].map(([, name]) => name!);
}

function expectBuckets(name: string, samples: Samples): void {
  const rows = new Map<string, [bound: number, count: number][]>();
  for (const [key, count] of samples) {
    if (!key.startsWith(`${name}_bucket{`)) continue;
    const bound = /le="([^"]*)"\}$/.exec(key)![1]!;
    const row = key.slice(`${name}_bucket`.length).replace(/,?le="[^"]*"\}$/, '}');
    const cells = rows.get(row) ?? [];
    rows.set(row, cells);
    cells.push([bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), count]);
  }
  for (const [row, cells] of rows) {
    const labels = row === '{}' ? '' : row;
    cells.slice(1).forEach(([bound, count], i) => {
      expect(bound, row).toBeGreaterThan(cells[i]![0]);
      expect(count, row).toBeGreaterThanOrEqual(cells[i]![1]);
    });
    const [lastBound, count] = cells.at(-1)!;
    expect([lastBound, count]).toEqual([Number.POSITIVE_INFINITY, samples.get(`${name}_count${labels}`)]);
    const sum = samples.get(`${name}_sum${labels}`)!;
    if (count === 0) expect(sum).toBe(0);
    // Nothing in a bucket is longer than its end, and nothing is shorter than the end of the one before.
    const least = cells.reduce(
      (low, [, upTo], i) => low + (upTo - (cells[i - 1]?.[1] ?? 0)) * (cells[i - 1]?.[0] ?? 0),
      0,
    );
    expect(sum, row).toBeGreaterThanOrEqual(least);
  }
}
