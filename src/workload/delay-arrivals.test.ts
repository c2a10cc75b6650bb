import { describe, expect, it } from 'vitest';
import { delayArrivals } from './delay-arrivals.js';
import { RequestTable } from './request-table.js';

function tableOf(count: number, deadline = 0): RequestTable {
  const table = new RequestTable();
  for (let row = 0; row < count; row++) {
    table.append();
    table.arrivalUs[row] = 100 * row;
    table.deadlineUs[row] = deadline === 0 ? 0 : 100 * row + deadline;
  }
  return table;
}

function delays(seed: number, mostUs = 1000): number[] {
  const table = tableOf(500);
  delayArrivals(table, mostUs, seed);
  return Array.from({ length: table.count }, (_, row) => table.arrivalUs[row]! - 100 * row);
}

describe('delayArrivals', () => {
  it('delays by whole microseconds, less than the most, evenly', () => {
    const all = delays(1);
    expect(all.every((us) => Number.isInteger(us) && us >= 0 && us < 1000)).toBe(true);
    const mean = all.reduce((sum, us) => sum + us) / all.length;
    expect(Math.abs(mean - 500)).toBeLessThan(50);
  });

  it('draws by the seed', () => {
    expect(delays(1)).toEqual(delays(1));
    expect(delays(1)).not.toEqual(delays(2));
  });

  it('moves deadlines along, and gives none to requests without', () => {
    const table = tableOf(50, 7000);
    delayArrivals(table, 1000, 1);
    for (let row = 0; row < 50; row++) expect(table.deadlineUs[row]! - table.arrivalUs[row]!).toBe(7000);
    const without = tableOf(50);
    delayArrivals(without, 1000, 1);
    expect(without.deadlineUs.every((us) => us === 0)).toBe(true);
  });
});
