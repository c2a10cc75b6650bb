import { expect, it } from 'vitest';
import type { KeyRole } from '../store/keys/key-record.js';
import { OpenStreams, untilEnd } from './open-streams.js';

async function* pieces() {
  yield 'a';
  yield 'b';
}

const full = expect.objectContaining({ code: 'API_STREAMS_FULL' });
const of = (name: string, role: KeyRole, workspaces: Record<string, KeyRole> = {}) => ({
  ...{ name, role, workspaces: new Map(Object.entries(workspaces)) },
});

it('refuses the 101st stream of a caller and the 1001st of all, until one ends', () => {
  const streams = new OpenStreams();
  const one = of('one', 'viewer');
  const ends = Array.from({ length: 100 }, () => streams.enter(one));
  expect(() => streams.enter(one)).toThrow(full);
  for (let i = 0; i < 900; i++) streams.enter(of(`caller ${i}`, 'viewer'));
  expect(() => streams.enter(of('another', 'viewer'))).toThrow(full);
  ends[0]!();
  ends[0]!();
  expect(streams.size).toBe(999);
  streams.enter(one);
  expect(() => streams.enter(one)).toThrow(full);
});

it('gives a workspace 300 streams, and the last 100 to callers with a role in every workspace', () => {
  const streams = new OpenStreams();
  const enter = (workspace: string, i: number) =>
    streams.enter(of(`${workspace}/${i}`, 'none', { [workspace]: 'viewer' }));
  const ends = Array.from({ length: 300 }, (_, i) => enter('a', i));
  expect(() => enter('a', 300)).toThrow(full);
  for (let i = 0; i < 600; i++) enter(i < 300 ? 'b' : 'c', i);
  expect(() => enter('d', 0)).toThrow(full);
  for (let i = 0; i < 100; i++) streams.enter(of(`admin ${i}`, 'viewer'));
  expect(() => streams.enter(of('late', 'admin'))).toThrow(full);
  for (const end of ends) end();
  enter('a', 0);
  expect(streams.size).toBe(701);
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
