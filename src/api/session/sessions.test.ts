import { expect, it } from 'vitest';
import { linkTokenIn, Sessions } from './sessions.js';

const HOUR_MS = 3_600_000;
const held = (name: string) => ({ authorization: `Bearer ${name}`, apiKey: undefined });

function atTime() {
  const clock = { ms: 0 };
  return { clock, sessions: new Sessions(() => clock.ms) };
}

it('a session ends when it is not used for eight hours', () => {
  const { clock, sessions } = atTime();
  const { id } = sessions.open(held('a'));
  clock.ms = 7 * HOUR_MS;
  expect(sessions.find(id)?.credentials).toEqual(held('a'));
  clock.ms = 14 * HOUR_MS;
  expect(sessions.find(id)).not.toBeNull();
  clock.ms = 22 * HOUR_MS;
  expect(sessions.find(id)).toBeNull();
  expect(sessions.size).toBe(0);
});

it('a session ends after a day, however much it is used', () => {
  const { clock, sessions } = atTime();
  const { id } = sessions.open(held('a'));
  for (let hour = 1; hour < 24; hour++) {
    clock.ms = hour * HOUR_MS;
    expect(sessions.find(id)).not.toBeNull();
  }
  clock.ms = 24 * HOUR_MS;
  expect(sessions.find(id)).toBeNull();
});

it('keeps at most 20 sessions of one caller and 1000 of all, and drops the one that was not used for longest', () => {
  const { sessions } = atTime();
  const first = sessions.open(held('a'));
  const second = sessions.open(held('a'));
  for (let i = 0; i < 18; i++) sessions.open(held('a'));
  sessions.find(first.id);
  sessions.open(held('a'));
  expect([sessions.size, sessions.find(second.id), sessions.find(first.id)?.id]).toEqual([20, null, first.id]);
  for (let i = 0; i < 1100; i++) sessions.open(held(`other-${i}`));
  expect(sessions.size).toBe(1000);
});

it('ids and CSRF tokens are long and differ', () => {
  const { sessions } = atTime();
  const all = [1, 2].map(() => sessions.open(held('a'))).flatMap(({ csrfToken, id }) => [csrfToken, id]);
  expect(new Set(all).size).toBe(4);
  for (const one of all) expect(one).toMatch(/^[\w-]{43}$/);
});

it('a login link works once, and only for 15 minutes', () => {
  const { clock, sessions } = atTime();
  const one = sessions.link(held('a'));
  expect(sessions.follow(one.token)).toEqual(held('a'));
  expect(sessions.follow(one.token)).toBeNull();
  const late = sessions.link(held('a'));
  clock.ms = late.endsMs;
  expect([late.endsMs, sessions.follow(late.token)]).toEqual([15 * 60_000, null]);
});

it('keeps at most 100 login links', () => {
  const { sessions } = atTime();
  const first = sessions.link(held('a'));
  const others = Array.from({ length: 100 }, () => sessions.link(held('a')));
  expect(sessions.follow(first.token)).toBeNull();
  expect(sessions.follow(others[0]!.token)).not.toBeNull();
});

it('reads the token of a link from a header', () => {
  const { sessions } = atTime();
  const { token } = sessions.link(held('a'));
  expect(linkTokenIn(`Bearer ${token}`)).toBe(token);
  for (const other of [undefined, token, 'Bearer sk-1', `Bearer ${token}x`]) expect(linkTokenIn(other)).toBeNull();
});
