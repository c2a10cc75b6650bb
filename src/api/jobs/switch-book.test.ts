import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SwitchBook } from './switch-book.js';

const CHAT = { workspace: 'default', name: 'chat' };
const MADE = { job: 'a', policy: 'lmetric', former: 'round-robin', metric: 'ttft_p90', most: 0.1 };

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-switches-'));
  path = join(folder, 'data', 'switches.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

it('reports the latest switch of an endpoint, also after the process has ended', () => {
  const book = new SwitchBook(path);
  book.begin(CHAT, MADE, 1000);
  expect(book.of(CHAT)).toMatchObject({ ...MADE, state: 'watching', at: '1970-01-01T00:00:01.000Z' });
  book.end(CHAT, 'a', 'kept', 'it is fine', 2000);
  const kept = { ...MADE, state: 'kept', reason: 'it is fine', at: '1970-01-01T00:00:02.000Z' };
  expect([book.of(CHAT), new SwitchBook(path).of(CHAT)]).toEqual([kept, kept]);
  expect(book.of({ ...CHAT, name: 'code' })).toBeUndefined();
});

it('reports a switch that was watched when the process was killed as interrupted', () => {
  new SwitchBook(path).begin(CHAT, MADE, 1000);
  const after = new SwitchBook(path);
  expect(after.of(CHAT)).toMatchObject({ ...MADE, state: 'interrupted' });
  after.begin(CHAT, { ...MADE, job: 'b' }, 3000);
  after.end(CHAT, 'a', 'kept', 'too late', 4000);
  expect(after.of(CHAT)).toMatchObject({ job: 'b', state: 'watching' });
});

it('forgets the switches of a workspace that was removed, but not those of a later one of that name', () => {
  const book = new SwitchBook(path);
  for (const workspace of ['w', 'w2']) book.begin({ workspace, name: 'chat' }, MADE, 1000);
  book.forget('w', 999);
  expect(book.of({ workspace: 'w', name: 'chat' })).toBeDefined();
  book.forget('w', 1000);
  for (const known of [book, new SwitchBook(path)])
    expect(['w', 'w2'].map((workspace) => known.of({ workspace, name: 'chat' })?.job)).toEqual([undefined, 'a']);
});

it('keeps 1,000 endpoints, and starts without a file that it cannot read', () => {
  const book = new SwitchBook(path);
  for (let i = 0; i <= 1000; i++) book.begin({ workspace: 'w', name: `e${i}` }, MADE, i);
  expect([book.of({ workspace: 'w', name: 'e0' }), book.of({ workspace: 'w', name: 'e1' })?.state]).toEqual([
    ...[undefined, 'watching'],
  ]);
  expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')))).toHaveLength(1000);
  writeFileSync(path, '{"default/chat":{"state":"odd"}}');
  expect(new SwitchBook(path).of(CHAT)).toBeUndefined();
  const nowhere = new SwitchBook(null);
  nowhere.begin(CHAT, MADE, 1);
  expect(nowhere.of(CHAT)?.state).toBe('watching');
});
