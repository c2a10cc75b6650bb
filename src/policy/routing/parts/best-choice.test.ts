import { describe, expect, it } from 'vitest';
import { randomStream } from '../../../kernel/random-stream.js';
import { createFleetView, type FleetView } from '../../fleet-view.js';
import { BestChoice } from './best-choice.js';

function fleet(eligible: readonly number[]): FleetView {
  const view = createFleetView(eligible.length);
  view.eligible.set(eligible);
  return view;
}

describe('BestChoice', () => {
  it('takes the greatest value of the eligible', () => {
    const best = new BestChoice('first', randomStream(1, 'ties'));
    expect(best.among(fleet([1, 0, 1]), Float64Array.of(1, 9, 2))).toBe(2);
    expect(best.tied).toBe(1);
  });

  it('takes the first of equals and counts them', () => {
    const best = new BestChoice('first', randomStream(1, 'ties'));
    expect(best.among(fleet([0, 1, 1, 1]), Float64Array.of(5, 5, 5, 1))).toBe(1);
    expect(best.tied).toBe(2);
  });

  it('is -1 when no replica is eligible', () => {
    const best = new BestChoice('random', randomStream(1, 'ties'));
    expect(best.among(fleet([0, 0]), Float64Array.of(5, 5))).toBe(-1);
    expect(best.tied).toBe(0);
  });

  it('draws among equals only, and reaches each of them', () => {
    const best = new BestChoice('random', randomStream(3, 'ties'));
    const view = fleet([1, 1, 0, 1, 1]);
    const seen = new Set<number>();
    for (let i = 0; i < 100; i++) seen.add(best.among(view, Float64Array.of(7, 2, 7, 7, 7)));
    expect([...seen].sort()).toEqual([0, 3, 4]);
  });

  it('draws exactly when two or more tie', () => {
    const random = randomStream(3, 'ties');
    const best = new BestChoice('random', random);
    const untouched = random.state();
    best.among(fleet([1, 1, 0]), Float64Array.of(1, 2, 2));
    expect(random.state()).toEqual(untouched);
    best.among(fleet([1, 1, 1]), Float64Array.of(1, 2, 2));
    const once = randomStream(3, 'ties');
    once.below(2);
    expect(random.state()).toEqual(once.state());
  });
});
