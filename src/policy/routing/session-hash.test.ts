import { expect, it } from 'vitest';
import { pickerOf } from './parts/picker.fixture.js';
import { sessionHash } from './session-hash.js';

it('gives every session its replica, regardless of load, and spreads sessions over all', () => {
  const { view, request, why, ask } = pickerOf(sessionHash, 4);
  const homes = () =>
    Array.from({ length: 60 }, (_, i) => {
      request.session = `session ${i}`;
      return ask();
    });
  const idle = homes();
  view.inFlight.set([90, 0, 3, 1]);
  expect(homes()).toEqual(idle);
  expect(new Set(idle).size).toBe(4);
  expect(why.rule).toBe('home of its session');
});

it('sends requests without a session to the replica with the fewest in flight', () => {
  const { view, why, ask } = pickerOf(sessionHash, 3);
  view.inFlight.set([2, 1, 1]);
  expect(ask()).toBe(1);
  expect(why).toMatchObject({ tied: 2, rule: 'fewest in flight: no session' });
});
