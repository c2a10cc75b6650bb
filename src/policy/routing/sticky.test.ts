import { expect, it } from 'vitest';
import { pickerOf } from './parts/picker.fixture.js';
import { sticky } from './sticky.js';

it('keeps a session on its first replica, regardless of load', () => {
  const { view, why, ask, turn } = pickerOf(sticky, 3);
  view.inFlight.set([1, 0, 2]);
  expect(turn('s')).toBe(1);
  view.inFlight.set([0, 99, 0]);
  expect([turn('s'), turn('t'), turn('')]).toEqual([1, 0, 0]);
  view.inFlight.set([5, 4, 3]);
  expect([turn('s'), turn('t'), turn('')]).toEqual([1, 0, 2]);
  turn('s');
  expect(ask()).toBe(1);
  expect(why).toMatchObject({ scored: false, tied: 0, rule: "its session's replica" });
});

it('uses another replica while its own is not eligible, and returns', () => {
  const { view, why, ask, turn } = pickerOf(sticky, 2);
  expect(turn('s')).toBe(0);
  view.eligible[0] = 0;
  expect([turn('s'), ask()]).toEqual([1, 1]);
  expect(why.rule).toBe("fewest in flight: its session's replica is not eligible");
  view.eligible[0] = 1;
  view.inFlight.set([9, 0]);
  expect(turn('s')).toBe(0);
});

it('assigns a session to another replica when its own has left, by id', () => {
  const { view, turn } = pickerOf(sticky, 2);
  expect(turn('s')).toBe(0);
  view.ids = ['replica-1', 'replica-0'];
  expect(turn('s')).toBe(1);
  view.ids = ['replica-1', 'replica-2'];
  view.inFlight.set([1, 0]);
  expect(turn('s')).toBe(1);
  view.ids = ['replica-0', 'replica-2'];
  view.inFlight.set([0, 9]);
  expect(turn('s')).toBe(1);
});
