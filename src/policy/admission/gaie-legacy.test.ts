import { describe, expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { createFleetView } from '../fleet-view.js';
import { createRequestFeatures } from '../request-features.js';
import { gaieLegacy } from './gaie-legacy.js';

function setUp() {
  const view = createFleetView(2);
  const options = { qd_threshold: 5, kv_threshold: 0.8 };
  const gate = gaieLegacy.create(options, { random: randomStream(1, 'x'), replicas: 2 });
  return { view, ask: (priority: number) => gate.refuse({ ...createRequestFeatures(2), priority }, view) };
}

describe('gaie-legacy', () => {
  it('refuses sheddable requests from a mean of 1 on', () => {
    const { view, ask } = setUp();
    view.queued.set([10, 0]);
    expect([ask(-1), ask(0), ask(3)]).toEqual(['fleet is saturated', null, null]);
    view.queued.set([9, 0]);
    expect(ask(-1)).toBeNull();
  });

  it('takes the worse of queue and memory per replica', () => {
    const { view, ask } = setUp();
    view.queued.set([5, 0]);
    view.kvUsed.set([0.1, 0.8]);
    expect(ask(-1)).toBe('fleet is saturated');
  });

  it('counts a fleet without replicas as saturated', () => {
    const { view, ask } = setUp();
    view.eligible.fill(0);
    expect([ask(-1), ask(3)]).toEqual(['fleet is saturated', null]);
  });
});
