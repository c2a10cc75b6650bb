import { expect, it } from 'vitest';
import { LastKnown } from './last-known.js';

it('is read again by every reader, and is the last value while the store does not respond or fails', async () => {
  let read: () => Promise<number> = async () => 1;
  let reads = 0;
  const known = new LastKnown(() => {
    reads++;
    return read();
  }, 20);
  expect(await known.get()).toEqual({ value: 1 });
  read = async () => 2;
  expect(await known.get()).toEqual({ value: 2 });
  read = () => Promise.reject(new Error('away'));
  expect(await known.get()).toEqual({ value: 2 });
  let respond = (_: number) => {};
  read = () =>
    new Promise((resolve) => {
      respond = resolve;
    });
  expect(await known.get()).toEqual({ value: 2 });
  expect([await known.get(), reads]).toEqual([{ value: 2 }, 4]);
  respond(3);
  read = async () => 4;
  await new Promise((resolve) => setImmediate(resolve));
  expect([await known.get(), reads]).toEqual([{ value: 4 }, 5]);
});

it('is nothing before the store has said anything', async () => {
  const failing = new LastKnown(() => Promise.reject(new Error('away')), 20);
  await expect(failing.get()).rejects.toThrow('away');
  const silent = new LastKnown(() => new Promise(() => {}), 20);
  expect([await silent.get(), await silent.get()]).toEqual([null, null]);
});
