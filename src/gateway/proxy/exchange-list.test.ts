import { expect, it, vi } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import type { Exchange } from './exchange.js';
import { ExchangeList } from './exchange-list.js';

it('holds those that were added and not removed, whatever the order of removal', () => {
  const random = randomStream(3, 'exchanges');
  const list = new ExchangeList();
  const present = new Set<Exchange>();
  for (let i = 0; i < 2000; i++) {
    const leaver = [...present][random.below(present.size + 1)];
    if (leaver === undefined) {
      const exchange = { place: -1 } as Exchange;
      list.add(exchange);
      present.add(exchange);
    } else {
      list.remove(leaver);
      present.delete(leaver);
    }
    expect(list.size).toBe(present.size);
  }
  expect(new Set(list.all())).toEqual(present);
  for (const exchange of list.all()) list.remove(exchange);
  expect(list.all()).toEqual([]);
});

it('resolves when the last has ended, and at once when none is under way', async () => {
  const list = new ExchangeList();
  await list.emptied();
  const [first, second] = [{ place: -1 } as Exchange, { place: -1 } as Exchange];
  list.add(first);
  list.add(second);
  const emptied = vi.fn();
  const told = list.emptied().then(emptied);
  list.remove(first);
  await Promise.resolve();
  expect(emptied).not.toHaveBeenCalled();
  list.remove(second);
  await told;
  expect(emptied).toHaveBeenCalledOnce();
});
