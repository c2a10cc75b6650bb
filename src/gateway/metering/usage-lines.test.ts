import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readUsageLines, UsageLines } from './usage-lines.js';
import { COUNTS, type UsageLabel, UsageTotals } from './usage-totals.js';

const label = (model: string): UsageLabel => ({ keyId: 'k', model, endpoint: 'e', day: '2026-11-15', outcome: 'ok' });

function written(lines: readonly [label: number, counts: readonly number[]][], labels: readonly string[]): Buffer {
  const out = new UsageLines();
  for (const [i, model] of labels.entries()) out.label(i, label(model));
  for (const [number, counts] of lines) {
    out.begin(number);
    for (const count of counts) out.count(count);
    out.end();
  }
  return Buffer.from(out.bytes.subarray(0, out.length));
}

const text = (bytes: Buffer) => readUsageLines(bytes);
const [ONE, TWO] = [
  [1, 12, 3, 4, 0, 0, 250, 0, 0],
  [1, 0, 0, 0, 0, 1, 0, 0, 0],
];

describe('the lines of a journal', () => {
  test('look like this', () => {
    expect(written([[0, ONE!]], ['m\n"']).toString()).toBe(
      '0 {"keyId":"k","model":"m\\n\\"","endpoint":"e","day":"2026-11-15","outcome":"ok"}\n0 1 12 3 4 0 0 250 0 0\n',
    );
  });

  const value = fc.oneof(fc.nat(20), fc.nat(), fc.maxSafeNat(), fc.constantFrom(9, 10, 99, 100, 2 ** 53 - 1, 10 ** 15));
  test('are read as they were written', () => {
    const counts = fc.array(value, { minLength: COUNTS.length, maxLength: COUNTS.length });
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), counts, (model, given) => {
        const { damaged, totals } = text(written([[0, given]], [model]));
        expect(damaged).toBe(0);
        const [row] = totals.rows();
        expect(COUNTS.map((name) => row![name])).toEqual(given);
        expect(row!.model).toBe(model);
      }),
    );
  });

  test('add up, and can be written shorter', () => {
    const lines = Array.from({ length: 5000 }, (_, i) => [i % 3, ONE!] as [number, number[]]);
    const all = text(written(lines, ['a', 'b', 'c'])).totals;
    expect(all.rows().map(({ requests, costNanos }) => [requests, costNanos])).toEqual([
      [1667, 416_750],
      [1667, 416_750],
      [1666, 416_500],
    ]);
    const shorter = new UsageLines();
    shorter.totals(all);
    expect(shorter.length).toBeLessThan(500);
    expect(text(Buffer.from(shorter.bytes.subarray(0, shorter.length))).totals.rows()).toEqual(all.rows());
  });

  test('cut anywhere: complete lines count, and the rest is ignored', () => {
    const bytes = written(
      [
        [0, ONE!],
        [0, TWO!],
      ],
      ['m'],
    );
    const ends = [...bytes].flatMap((byte, at) => (byte === 10 ? [at] : []));
    for (let length = 0; length <= bytes.length; length++) {
      const whole = ends.filter((at) => at < length).length;
      const { damaged, totals } = text(bytes.subarray(0, length));
      expect([damaged, totals.rows()[0]?.requests ?? null], `cut at ${length}`).toEqual([0, [null, 0, 1, 2][whole]]);
    }
  });

  test.each([
    ['no label', '7 1 0 0 0 0 0 0 0 0\n'],
    ['too few counts', '0 1 0 0 0 0 0 0 0\n'],
    ['too many counts', '0 1 0 0 0 0 0 0 0 0 0 0\n'],
    ['no number', '0 1 x 0 0 0 0 0 0 0\n'],
    ['a fraction', '0 1 0.5 0 0 0 0 0 0 0\n'],
    ['a number too large', '0 1 9999999999999999 0 0 0 0 0 0 0\n'],
    ['zeros', '\0\0\0\0\n'],
    ['an empty line', '\n'],
    ['half a label', '1 {"keyId":"k","model"}\n'],
    ['a label without all', '1 {"keyId":"k","model":"m","endpoint":"e","day":"2026-11-15"}\n'],
    ['a label of numbers', '1 {"keyId":"k","model":1,"endpoint":"e","day":"2026-11-15","outcome":"ok"}\n'],
  ])('damaged with %s are reported, and the others count', (_, line) => {
    const good = written([[0, ONE!]], ['m']);
    const { damaged, totals } = text(Buffer.concat([good, Buffer.from(line), Buffer.from('0 1 1 0 0 0 0 0 0 0\n')]));
    expect([damaged, totals.rows()[0]!.requests, totals.size]).toEqual([1, 2, 1]);
  });
});

describe('sums', () => {
  test('are separate for every name', () => {
    const totals = new UsageTotals();
    const given = { keyId: 'k', model: 'm', endpoint: 'e', day: 'd', outcome: 'o' };
    const find = ({ keyId, model, endpoint, day, outcome }: UsageLabel) =>
      totals.find(keyId, model, endpoint, day, outcome);
    expect(find(given)).toBe(-1);
    expect(totals.addLabel(given)).toBe(0);
    for (const [i, name] of (['keyId', 'model', 'endpoint', 'day', 'outcome'] as const).entries()) {
      const other = { ...given, [name]: 'x' };
      expect(find(other)).toBe(-1);
      expect(totals.addLabel(other)).toBe(i + 1);
      expect(find(other)).toBe(i + 1);
    }
    expect(find(given)).toBe(0);
  });

  test('are kept when there are many', () => {
    const totals = new UsageTotals();
    for (let i = 0; i < 100; i++) totals.add(totals.addLabel(label(String(i))), 1, i);
    expect(totals.rows().map(({ inputTokens }) => inputTokens)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });
});
