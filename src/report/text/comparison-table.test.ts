import { expect, it } from 'vitest';
import { type ComparisonRow, comparisonTable } from './comparison-table.js';

const ROWS: ComparisonRow[] = [
  { name: 'requests', kind: 'count', expected: 1214, found: 1214, difference: 0 },
  { name: 'duration', kind: 'seconds', expected: 2912, found: 2911.7, difference: -0.0001 },
  { name: 'rate', kind: 'rate', expected: 3.4, found: 3.5, difference: 0.0294, remark: 'why not' },
  { name: 'length', kind: 'tokens', expected: 33_600, found: 30_000, difference: -0.107 },
  { name: 'reuse', kind: 'share', expected: 0.366, found: 0.37, difference: 0.0109 },
];

it('puts statistics side by side', () => {
  expect(comparisonTable(['published', 'generated'], ROWS, { colour: false }).split('\n')).toEqual([
    '          published  generated  difference',
    'requests      1,214      1,214       0.0 %',
    'duration    2,912 s    2,912 s       0.0 %',
    'rate       3.400 /s   3.500 /s      +2.9 %  why not',
    'length     33,600.0   30,000.0     -10.7 %',
    'reuse        36.6 %     37.0 %      +1.1 %',
    '',
  ]);
});

it('adds the differences of other tries', () => {
  const rows = ROWS.slice(3).map((row, i) => (i === 0 ? { ...row, tries: { mean: -0.02, deviation: 0.1 } } : row));
  expect(comparisonTable(['a', 'b', 'others'], rows, { colour: false }).split('\n')).toEqual([
    '               a         b  difference           others',
    'length  33,600.0  30,000.0     -10.7 %  -2.0 % ± 10.0 %',
    'reuse     36.6 %    37.0 %      +1.1 %',
    '',
  ]);
});

it('marks the heading where there is colour', () => {
  const [heading, ...lines] = comparisonTable(['a', 'b'], ROWS, { colour: true }).split('\n');
  const [plain, ...others] = comparisonTable(['a', 'b'], ROWS, { colour: false }).split('\n');
  expect(heading).toBe(`\x1b[1m${plain}\x1b[22m`);
  expect(lines).toEqual(others);
});
