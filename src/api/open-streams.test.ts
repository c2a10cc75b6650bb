import { expect, it } from 'vitest';
import { OpenStreams, untilEnd } from './open-streams.js';

async function* pieces() {
  yield 'a';
  yield 'b';
}

it('refuses the 101st stream of a caller and the 1001st of all, until one ends', () => {
  const streams = new OpenStreams();
  const ends = Array.from({ length: 100 }, () => streams.enter('one'));
  expect(() => streams.enter('one')).toThrow(expect.objectContaining({ code: 'API_STREAMS_FULL' }));
  for (let i = 0; i < 900; i++) streams.enter(`caller ${i}`);
  expect(() => streams.enter('another')).toThrow(expect.objectContaining({ code: 'API_STREAMS_FULL' }));
  ends[0]!();
  ends[0]!();
  expect(streams.size).toBe(999);
  streams.enter('one');
  expect(() => streams.enter('one')).toThrow(expect.objectContaining({ code: 'API_STREAMS_FULL' }));
});

it('ends with the last piece, with a reader that leaves, or with the signal although it is never read', async () => {
  const ended: string[] = [];
  const open = (name: string, signal = new AbortController().signal) =>
    untilEnd(pieces(), signal, () => ended.push(name));
  for await (const _ of open('whole'));
  for await (const _ of open('left')) break;
  const leaving = new AbortController();
  open('unread', leaving.signal);
  leaving.abort();
  expect([...new Set(ended)]).toEqual(['whole', 'left', 'unread']);
});
