import { describe, expect, it } from 'vitest';
import { RequestSlots } from './request-slots.js';

describe('RequestSlots', () => {
  it('uses numbers again', () => {
    const slots = new RequestSlots();
    expect([slots.take(70), slots.take(80), slots.take(70)]).toEqual([0, 1, 0]);
    expect([slots.giveBack(70), slots.of(70), slots.giveBack(70)]).toEqual([0, -1, -1]);
    expect([slots.take(90), slots.of(80), slots.of(90)]).toEqual([0, 1, 0]);
  });

  it('has room for as many as are under way', () => {
    const slots = new RequestSlots();
    const rows = Array.from({ length: 3000 }, (_, i) => i * 7);
    expect(rows.map((row) => slots.take(row))).toEqual(rows.map((_, i) => i));
    for (const row of rows) slots.giveBack(row);
    expect(new Set(rows.map((row) => slots.take(row))).size).toBe(3000);
    expect(Math.max(...rows.map((row) => slots.of(row)))).toBe(2999);
  });
});
