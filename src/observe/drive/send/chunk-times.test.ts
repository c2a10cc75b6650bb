import { expect, it } from 'vitest';
import { ChunkTimes } from './chunk-times.js';

it('returns the times of every row, in order', () => {
  const times = new ChunkTimes();
  for (let i = 0; i < 3000; i++) times.add(i % 3 === 0 ? 4 : 1, i);
  const rows = [...times.byRow(6)];
  expect(rows.map(({ row, us }) => [row, us.length, us[0], us[1]])).toEqual([
    [1, 2000, 1, 2],
    [4, 1000, 0, 3],
  ]);
  expect([...new ChunkTimes().byRow(2)]).toEqual([]);
});
