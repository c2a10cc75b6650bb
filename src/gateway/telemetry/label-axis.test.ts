import { describe, expect, it } from 'vitest';
import { LabelAxis, PairAxis } from './label-axis.js';

describe('LabelAxis', () => {
  it('numbers values in order, and counts those beyond the limit as `other`', () => {
    const axis = new LabelAxis('model', 2);
    expect(['a', 'b', 'a', 'c', 'b'].map((value) => axis.index(value))).toEqual([1, 2, 1, 0, 2]);
    expect([axis.used, axis.capacity]).toEqual([3, 3]);
    expect([0, 1, 2].map((i) => axis.text(i))).toEqual(['model="other"', 'model="a"', 'model="b"']);
    expect([0, 1].map((i) => axis.isOverflow(i))).toEqual([true, false]);
  });

  it('has one `other` only, and a bounded number of names', () => {
    const axis = new LabelAxis('model', 10);
    expect([axis.index('other'), axis.index('x'.repeat(201)), axis.used]).toEqual([0, 0, 1]);
    expect(axis.index('x'.repeat(200))).toBe(1);
  });

  it('escapes what would end a label', () => {
    const axis = new LabelAxis('model', 1);
    expect(axis.text(axis.index('quote " slash \\ line\nend'))).toBe('model="quote \\" slash \\\\ line\\nend"');
  });
});

describe('PairAxis', () => {
  it('has an `other` for every first value', () => {
    const endpoints = new LabelAxis('endpoint', 2);
    const [chat, code] = [endpoints.index('chat'), endpoints.index('code')];
    const pairs = new PairAxis(endpoints, 'model', 3);
    const numbers = [pairs.index(chat, 'a'), pairs.index(code, 'a'), pairs.index(chat, 'b')];
    expect(numbers).toEqual([3, 4, 5]);
    expect([pairs.index(chat, 'c'), pairs.index(code, 'c'), pairs.index(chat, 'a')]).toEqual([chat, code, 3]);
    expect(numbers.map((i) => pairs.text(i))).toEqual([
      'endpoint="chat",model="a"',
      'endpoint="code",model="a"',
      'endpoint="chat",model="b"',
    ]);
    expect([pairs.text(code), pairs.isOverflow(code), pairs.isOverflow(3)]).toEqual([
      'endpoint="code",model="other"',
      true,
      false,
    ]);
    expect([pairs.used, pairs.capacity]).toEqual([6, 6]);
  });

  it('counts a model named other, or with too long a name, as `other`', () => {
    const endpoints = new LabelAxis('endpoint', 1);
    const pairs = new PairAxis(endpoints, 'model', 5);
    expect([pairs.index(0, 'other'), pairs.index(1, 'x'.repeat(201)), pairs.used]).toEqual([0, 1, 2]);
  });
});
