import { describe, expect, it } from 'vitest';
import { NameTable } from './name-table.js';

describe('NameTable', () => {
  it('has the empty name as 0 from the start', () => {
    const table = new NameTable();
    expect([table.index(''), table.find(''), table.name(0), table.size]).toEqual([0, 0, '', 1]);
  });

  it('numbers names in order of first appearance and never again', () => {
    const table = new NameTable();
    expect(['b', 'a', 'b'].map((name) => table.index(name))).toEqual([1, 2, 1]);
    expect(table.names()).toEqual(['', 'b', 'a']);
    expect([table.name(2), table.size]).toEqual(['a', 3]);
  });

  it('looks names up without adding them', () => {
    const table = new NameTable();
    expect([table.find('x'), table.size]).toEqual([-1, 1]);
    table.index('x');
    expect(table.find('x')).toBe(1);
  });

  it('accepts names of object members like any other', () => {
    const table = new NameTable();
    expect([table.find('constructor'), table.index('__proto__'), table.find('__proto__')]).toEqual([-1, 1, 1]);
  });
});
