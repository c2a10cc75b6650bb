import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MOST_SESSIONS, SessionAffinity } from './session-affinity.js';

it('remembers the last replica of a session', () => {
  const affinity = new SessionAffinity();
  expect(affinity.get('s')).toBeUndefined();
  affinity.set('s', 'a');
  affinity.set('t', 'a');
  affinity.set('s', 'b');
  expect([affinity.get('s'), affinity.get('t'), affinity.size]).toEqual(['b', 'a', 2]);
});

it('drops the least recent session; a lookup does not make it more recent', () => {
  const affinity = new SessionAffinity(2);
  affinity.set('s', 'a');
  affinity.set('t', 'a');
  affinity.get('s');
  affinity.set('u', 'a');
  expect(['s', 't', 'u'].map((session) => affinity.get(session))).toEqual([undefined, 'a', 'a']);
  affinity.set('t', 'a');
  affinity.set('v', 'a');
  expect(['t', 'u', 'v'].map((session) => affinity.get(session))).toEqual(['a', undefined, 'a']);
});

it('matches a plain list, for any sequence', () => {
  const step = fc.record({ session: fc.nat({ max: 7 }).map(String), replica: fc.constantFrom('a', 'b', 'c') });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 40 }), (capacity, steps) => {
      const affinity = new SessionAffinity(capacity);
      let plain: { session: string; replica: string }[] = [];
      for (const { session, replica } of steps) {
        affinity.set(session, replica);
        plain = [...plain.filter((one) => one.session !== session), { session, replica }].slice(-capacity);
        for (let i = 0; i <= 7; i++) {
          expect(affinity.get(String(i))).toBe(plain.find((one) => one.session === String(i))?.replica);
        }
        expect(affinity.size).toBe(plain.length);
      }
    }),
  );
});

it('holds a hundred thousand sessions', () => {
  const affinity = new SessionAffinity();
  for (let i = 0; i <= MOST_SESSIONS; i++) affinity.set(`s${i}`, 'a');
  expect([affinity.size, affinity.get('s0'), affinity.get('s1')]).toEqual([100_000, undefined, 'a']);
});
