import { describe, expect, it } from 'vitest';
import { isSheddable, sloPriorities } from './slo-classes.js';

describe('sloPriorities', () => {
  it('has the built-in classes and treats all others as standard', () => {
    const { priorityOf, maxPriority } = sloPriorities();
    const classes = ['critical', 'standard', 'batch', 'sheddable', 'background', '', 'gold', 'constructor'];
    expect(classes.map(priorityOf)).toEqual([4, 3, -1, -2, -3, 3, 3, 3]);
    expect(maxPriority).toBe(4);
  });

  it('takes overrides and new classes', () => {
    const { isKnown, priorityOf, maxPriority } = sloPriorities({ batch: 2, gold: 9 });
    expect([priorityOf('batch'), priorityOf('gold'), priorityOf('critical')]).toEqual([2, 9, 4]);
    expect(['gold', 'batch', 'silver', ''].map(isKnown)).toEqual([true, true, false, false]);
    expect(maxPriority).toBe(9);
  });

  it('includes the default in the greatest priority', () => {
    const lowered = sloPriorities({ critical: -1, standard: 0 });
    expect(lowered.maxPriority).toBe(3);
    expect(lowered.priorityOf('unheard-of')).toBe(3);
  });

  it.each([101, -101, 1.5, Number.NaN])('refuses %d', (priority) => {
    expect(() => sloPriorities({ gold: priority }, 'bundle.yaml:4')).toThrow(
      expect.objectContaining({ code: 'BAD_SLO_PRIORITY', place: 'bundle.yaml:4' }),
    );
  });

  it('treats only classes below zero as sheddable', () => {
    expect([-1, 0, 3].map(isSheddable)).toEqual([true, false, false]);
  });
});
