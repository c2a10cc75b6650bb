import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MOST_SESSIONS, SessionAffinity } from './session-affinity.js';

it('remembers the replica of a chat, and the last one said', () => {
  const affinity = new SessionAffinity();
  expect(affinity.get('s')).toBeUndefined();
  affinity.set('s', 'a');
  affinity.set('t', 'a');
  affinity.set('s', 'b');
  expect([affinity.get('s'), affinity.get('t'), affinity.size]).toEqual(['b', 'a', 2]);
});

it('forgets the chat unheard of for longest; looking up is not hearing of it', () => {
  const affinity = new SessionAffinity(2);
  affinity.set('s', 'a');
  affinity.set('t', 'a');
  affinity.get('s');
  affinity.set('u', 'a');
  expect(['s', 't', 'u'].map((chat) => affinity.get(chat))).toEqual([undefined, 'a', 'a']);
  affinity.set('t', 'a');
  affinity.set('v', 'a');
  expect(['t', 'u', 'v'].map((chat) => affinity.get(chat))).toEqual(['a', undefined, 'a']);
});

it('does what a plain list does, for any sequence', () => {
  const step = fc.record({ chat: fc.nat({ max: 7 }).map(String), replica: fc.constantFrom('a', 'b', 'c') });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 40 }), (capacity, steps) => {
      const affinity = new SessionAffinity(capacity);
      let plain: { chat: string; replica: string }[] = [];
      for (const { chat, replica } of steps) {
        affinity.set(chat, replica);
        plain = [...plain.filter((one) => one.chat !== chat), { chat, replica }].slice(-capacity);
        for (let i = 0; i <= 7; i++) {
          expect(affinity.get(String(i))).toBe(plain.find((one) => one.chat === String(i))?.replica);
        }
        expect(affinity.size).toBe(plain.length);
      }
    }),
  );
});

it('holds a hundred thousand chats', () => {
  const affinity = new SessionAffinity();
  for (let i = 0; i <= MOST_SESSIONS; i++) affinity.set(`s${i}`, 'a');
  expect([affinity.size, affinity.get('s0'), affinity.get('s1')]).toEqual([100_000, undefined, 'a']);
});
