import { describe, expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { createFleetView } from '../fleet-view.js';
import { createRequestFeatures } from '../request-features.js';
import { tierShed } from './tier-shed.js';

function shed(threshold: number, min_priority: number) {
  const view = createFleetView(3);
  const gate = tierShed.create({ threshold, min_priority }, { random: randomStream(1, 'x'), replicas: 3 });
  return { view, ask: (priority: number) => gate.refuse({ ...createRequestFeatures(3), priority }, view) };
}

describe('tier-shed', () => {
  it('admits every request up to the threshold', () => {
    const { view, ask } = shed(4, 3);
    view.queued[1] = 2;
    view.inFlight[1] = 2;
    expect(ask(-3)).toBeNull();
  });

  it('refuses low priorities once the busiest replica is above it', () => {
    const { view, ask } = shed(4, 3);
    view.running[1] = 5;
    expect([ask(4), ask(3)]).toEqual([null, null]);
    expect([ask(2), ask(-1)]).toEqual(['tier shed under load', 'tier shed under load']);
  });

  it('looks at eligible replicas only; an empty fleet has no load', () => {
    const { view, ask } = shed(0, 0);
    view.running[1] = 5;
    view.eligible[1] = 0;
    expect(ask(-1)).toBeNull();
    view.size = 0;
    expect(ask(-1)).toBeNull();
  });
});
