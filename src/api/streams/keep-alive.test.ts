import { expect, it } from 'vitest';
import { followEvents } from './follow-events.js';
import { keepAlive } from './keep-alive.js';

it('a silent stream has a sign of life, and ends as before', async () => {
  let go = () => {};
  const silence = new Promise<void>((resolve) => {
    go = resolve;
  });
  async function* stream() {
    yield 'a';
    await silence;
    yield 'b';
  }
  const told: string[] = [];
  for await (const item of keepAlive(stream(), 1)) {
    told.push(item);
    if (item === ': \n\n') go();
  }
  expect(told.filter((item) => item !== ': \n\n')).toEqual(['a', 'b']);
  expect(told[1]).toBe(': \n\n');
});

it('a client that disconnects while the stream is idle ends it at once', async () => {
  async function* stream() {
    await new Promise(() => {});
    yield '';
  }
  for await (const item of keepAlive(stream(), 1)) {
    expect(item).toBe(': \n\n');
    break;
  }
});

it('events are polled again after a pause, until the signal', async () => {
  const stop = new AbortController();
  let asked = 0;
  const events = {
    list: async () => {
      asked++;
      if (asked === 3) stop.abort();
      return [];
    },
  };
  for await (const event of followEvents(events, 0, {}, stop.signal, 1)) expect(event).toBeUndefined();
  expect(asked).toBe(3);
});
