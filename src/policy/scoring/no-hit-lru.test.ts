import { expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { createFleetView } from '../fleet-view.js';
import { createRequestFeatures } from '../request-features.js';
import { noHitLru } from './no-hit-lru.js';

function setUp(replicas: number) {
  const view = createFleetView(replicas);
  const request = createRequestFeatures(replicas);
  const instance = noHitLru.create({ random: randomStream(1, 'x'), replicas });
  const scores = new Float64Array(replicas);
  return {
    view,
    request,
    ask() {
      instance.score(request, view, scores);
      return Array.from(scores);
    },
    place: (replica: number) => instance.placed!(request, replica, view),
  };
}

it('ranks unused replicas in fleet order, then used ones from the oldest on', () => {
  const { ask, place } = setUp(3);
  expect(ask()).toEqual([1, 0.5, 0]);
  place(1);
  expect(ask()).toEqual([1, 0, 0.5]);
  place(0);
  expect(ask()).toEqual([0, 0.5, 1]);
  place(2);
  expect(ask()).toEqual([0.5, 1, 0]);
  place(0);
  expect(ask()).toEqual([0, 1, 0.5]);
  place(1);
  place(1);
  expect(ask()).toEqual([0.5, 0, 1]);
});

it('is neutral when any cache holds the prompt, and keeps its order', () => {
  const { request, ask, place } = setUp(3);
  request.cachedBlocks[2] = 1;
  expect(ask()).toEqual([0.5, 0.5, 0.5]);
  place(0);
  request.cachedBlocks[2] = 0;
  expect(ask()).toEqual([1, 0.5, 0]);
});

it('ranks only eligible replicas', () => {
  const { view, request, ask, place } = setUp(4);
  ask();
  place(1);
  view.eligible[0] = 0;
  request.cachedBlocks[0] = 5;
  expect(ask().slice(1)).toEqual([0, 1, 0.5]);
  view.eligible[1] = 0;
  view.eligible[2] = 0;
  expect(ask()[3]).toBe(1);
});

it('skips used replicas beyond a fleet that has shrunk', () => {
  const { view, ask, place } = setUp(3);
  ask();
  place(2);
  view.size = 2;
  expect(ask().slice(0, 2)).toEqual([1, 0]);
});

it('keeps its order before the first score', () => {
  const { ask, place } = setUp(2);
  place(0);
  expect(ask()).toEqual([1, 0]);
});

it('follows replicas to other slots, and forgets those that leave', () => {
  const { view, ask, place } = setUp(3);
  ask();
  for (const replica of [0, 1, 2]) place(replica);
  expect(ask()).toEqual([1, 0.5, 0]);
  view.ids = ['replica-2', 'replica-0', 'replica-1'];
  expect(ask()).toEqual([0, 1, 0.5]);
  view.ids = ['replica-9', 'replica-2', 'replica-0'];
  expect(ask()).toEqual([1, 0, 0.5]);
});
