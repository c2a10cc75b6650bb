import { describe, expect, it } from 'vitest';
import { stackedTables, textTable } from './text-table.js';

it('aligns columns and ends lines without spaces', () => {
  const rows = [
    ['name', 'n', ''],
    ['a', '1', '█'],
    ['longer', '1,000', ''],
  ];
  expect(textTable(rows, ['left', 'right', 'left'])).toEqual(['name        n', 'a           1  █', 'longer  1,000']);
});

it('replaces control characters in names', () => {
  expect(textTable([['\x1b[31mred\n']], ['left'])).toEqual(['?[31mred?']);
});

it('colours cells without moving columns', () => {
  const rows = [
    ['a', 'b'],
    ['x', { text: '1', paint: (text: string) => `<${text}>` }],
    ['x', '100'],
  ];
  expect(textTable(rows, ['left', 'right'])).toEqual(['a    b', 'x    <1>', 'x  100']);
});

describe('stackedTables', () => {
  const rows = [
    ['name', 'first', '', 'second', 'third'],
    ['a', '1', '+2 %', '3', '4'],
  ];
  const alignments = ['left', 'right', 'right', 'right', 'right'] as const;

  it('leaves a table that fits as it is', () => {
    expect(stackedTables(rows, alignments, 34)).toEqual([textTable(rows, alignments)]);
  });

  it('continues below with the first column again, and keeps unnamed columns with the one before', () => {
    expect(stackedTables(rows, alignments, 26)).toEqual([
      ['name  first        second', 'a         1  +2 %       3'],
      ['name  third', 'a         4'],
    ]);
    expect(stackedTables(rows, alignments, 5)).toEqual([
      ['name  first', 'a         1  +2 %'],
      ['name  second', 'a          3'],
      ['name  third', 'a         4'],
    ]);
  });

  it('repeats the label columns that leave half of the width', () => {
    const wide = [
      ['key', 'model', 'requests', 'tokens'],
      ['a', 'm', '1', '2'],
    ];
    const sides = ['left', 'left', 'right', 'right'] as const;
    expect(stackedTables(wide, sides, 24, 2)).toEqual([
      ['key  model  requests', 'a    m             1'],
      ['key  model  tokens', 'a    m           2'],
    ]);
    expect(stackedTables(wide, sides, 20, 2).map(([names]) => names)).toEqual(['key  model  requests', 'key  tokens']);
  });

  const text = [
    ['name', 'phase', 'message'],
    ['chat', 'Failed', 'the engine of replica one ended with exit code 1'],
  ];
  const left = ['left', 'left', 'left'] as const;

  it('wraps a text in the last column where there is room for it', () => {
    expect(stackedTables(text, left, 46)).toEqual([
      ['name  phase   message', 'chat  Failed  the engine of replica one ended', '              with exit code 1'],
    ]);
  });

  it('continues with the text below where there is no room beside the other columns', () => {
    expect(stackedTables(text, left, 36)).toEqual([
      ['name  phase', 'chat  Failed'],
      ['name  message', 'chat  the engine of replica one', '      ended with exit code 1'],
    ]);
  });
});
