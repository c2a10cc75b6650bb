import { describe, expect, it } from 'vitest';
import { CsvRecord } from './csv-record.js';

const record = (header: string, line: string, required: readonly string[] = []) => {
  const read = new CsvRecord('t.csv', header, 1, required);
  read.read(line, 7);
  return read;
};

describe('CsvRecord', () => {
  it('finds columns by name, in any order, with others among them', () => {
    const read = record(' b ,x,a', '1,junk,2.50', ['a', 'b']);
    expect([read.count('b'), read.time('a'), read.name('x'), read.get('c'), read.name('c')]).toEqual([
      1,
      2.5,
      'junk',
      undefined,
      '',
    ]);
  });

  it('takes off quotes, and reads commas and quotes inside them', () => {
    const read = record('"a",b,"c, d"', '"say ""hi"", you",,"3"');
    expect([read.name('a'), read.name('b'), read.count('c, d')]).toEqual(['say "hi", you', '', 3]);
    expect(read.place('c, d')).toBe('t.csv:7:20 (c, d)');
  });

  it.each([
    ['1e3', 1000],
    ['12.', 12],
    ['.5', 0.5],
    ['-0', -0],
    ['007', 7],
  ])('reads the number %s', (text, value) => {
    expect(record('a', text).time('a')).toBe(value);
  });

  it.each(['', ' 1', '1 ', '1_000', '0x10', '1,5'.replace(',', ';'), 'Infinity', '--1', '1e'])(
    "refuses the number '%s'",
    (text) => {
      expect(() => record('a', text).time('a')).toThrow(/t\.csv:7:1 \(a\): .* is not a number; give a number from 0/);
    },
  );

  it('shows long and odd texts short and on one line', () => {
    expect(() => record('a', `\u001b[31m${'x'.repeat(99)}`).count('a')).toThrow(
      /: '\\u001b\[31mx+\.\.\.' is not a whole number/,
    );
  });
});
