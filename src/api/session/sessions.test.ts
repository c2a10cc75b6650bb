import { expect, it } from 'vitest';
import { ADMIN_OWNER, linkTokenIn, Sessions } from './sessions.js';

const HOUR_MS = 3_600_000;
const held = (name: string) => ({ authorization: `Bearer ${name}`, apiKey: undefined });

function atTime() {
  const clock = { ms: 0 };
  return { clock, sessions: new Sessions(() => clock.ms) };
}

it('a session ends when it is not used for eight hours', () => {
  const { clock, sessions } = atTime();
  const { id } = sessions.open('a', held('a'));
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
  const { id } = sessions.open('a', held('a'));
  for (let hour = 1; hour < 24; hour++) {
    clock.ms = hour * HOUR_MS;
    expect(sessions.find(id)).not.toBeNull();
  }
  clock.ms = 24 * HOUR_MS;
  expect(sessions.find(id)).toBeNull();
});

it('keeps at most 20 sessions of one caller, and drops the one that was not used for longest', () => {
  const { sessions } = atTime();
  const first = sessions.open('a', held('a'));
  const second = sessions.open('a', { ...held('a'), apiKey: 'another header' });
  for (let i = 0; i < 18; i++) sessions.open('a', { ...held('a'), apiKey: `${i}` });
  sessions.find(first.id);
  sessions.open('a', held('a'));
  expect([sessions.size, sessions.find(second.id), sessions.find(first.id)?.id]).toEqual([20, null, first.id]);
});

it('takes no place from another caller: when all are taken, only the admin token gets one', () => {
  const { clock, sessions } = atTime();
  const full = expect.objectContaining({ code: 'API_SESSIONS_FULL' });
  const [session, link] = [sessions.open('a', held('a')), sessions.link('a', held('a'))];
  for (let i = 1; i < 1000; i++) {
    sessions.open(`other-${i}`, held('b'));
    sessions.link(`other-${i}`, held('b'));
  }
  expect(() => sessions.open('late', held('c'))).toThrow(full);
  expect(() => sessions.link('late', held('c'))).toThrow(full);
  for (let i = 0; i < 30; i++) sessions.link(ADMIN_OWNER, held('admin'));
  const { token } = sessions.link(ADMIN_OWNER, held('admin'));
  expect([sessions.open(ADMIN_OWNER, held('admin')).owner, sessions.follow(token)]).toEqual([
    ADMIN_OWNER,
    held('admin'),
  ]);
  expect([sessions.find(session.id)?.id, sessions.follow(link.token)]).toEqual([session.id, held('a')]);
  clock.ms = 9 * HOUR_MS;
  sessions.open('late', held('c'));
  expect(sessions.size).toBe(1);
});

it('ids and CSRF tokens are long and differ', () => {
  const { sessions } = atTime();
  const all = [1, 2].map(() => sessions.open('a', held('a'))).flatMap(({ csrfToken, id }) => [csrfToken, id]);
  expect(new Set(all).size).toBe(4);
  for (const one of all) expect(one).toMatch(/^[\w-]{43}$/);
});

it('a login link works once, and only for 15 minutes', () => {
  const { clock, sessions } = atTime();
  const one = sessions.link('a', held('a'));
  expect(sessions.follow(one.token)).toEqual(held('a'));
  expect(sessions.follow(one.token)).toBeNull();
  const late = sessions.link('a', held('a'));
  clock.ms = late.endsMs;
  expect([late.endsMs, sessions.follow(late.token)]).toEqual([15 * 60_000, null]);
});

it('keeps at most 20 login links of one caller', () => {
  const { sessions } = atTime();
  const first = sessions.link('a', held('a'));
  const others = Array.from({ length: 20 }, () => sessions.link('a', held('a')));
  expect(sessions.follow(first.token)).toBeNull();
  expect(sessions.follow(others[0]!.token)).not.toBeNull();
});

it('reads the token of a link from a header', () => {
  const { sessions } = atTime();
  const { token } = sessions.link('a', held('a'));
  expect(linkTokenIn(`Bearer ${token}`)).toBe(token);
  for (const other of [undefined, token, 'Bearer sk-1', `Bearer ${token}x`]) expect(linkTokenIn(other)).toBeNull();
});
