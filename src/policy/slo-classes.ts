import { badSloPriority } from './errors.js';

/** Higher is more important; a class below zero may be shed. */
export const BUILT_IN_SLO_PRIORITIES: Readonly<Record<string, number>> = {
  critical: 4,
  standard: 3,
  batch: -1,
  sheddable: -2,
  background: -3,
};

/** For requests that name no class, or one that is not defined. */
export const DEFAULT_SLO_PRIORITY = 3;

/** The class of requests that name none. Their priority stays the default one, even if this class is given another. */
export const UNNAMED_CLASS = 'standard';

/** A class as a decision sees it. */
export interface SloClass {
  name: string;
  priority: number;
}

export interface SloPriorities {
  /** @param sloClass empty for none */
  classOf(sloClass: string): SloClass;
  priorityOf(sloClass: string): number;
  /** Whether the class is built in or configured: requests may name any. */
  isKnown(sloClass: string): boolean;
  /** The greatest priority any request can have. */
  maxPriority: number;
}

/** The built-in classes with some priorities replaced and classes added. */
export function sloPriorities(
  overrides: Readonly<Record<string, number>> = {},
  place = 'admission.slo_priorities',
): SloPriorities {
  const priorities = new Map(Object.entries(BUILT_IN_SLO_PRIORITIES));
  for (const [sloClass, priority] of Object.entries(overrides)) {
    if (!Number.isInteger(priority) || Math.abs(priority) > 100) throw badSloPriority(sloClass, priority, place);
    priorities.set(sloClass, priority);
  }
  const classes = new Map(Array.from(priorities, ([name, priority]) => [name, { name, priority }]));
  const unnamed: SloClass = { name: UNNAMED_CLASS, priority: DEFAULT_SLO_PRIORITY };
  return {
    classOf(sloClass) {
      if (sloClass === '') return unnamed;
      return classes.get(sloClass) ?? { name: sloClass, priority: DEFAULT_SLO_PRIORITY };
    },
    priorityOf: (sloClass) => priorities.get(sloClass) ?? DEFAULT_SLO_PRIORITY,
    isKnown: (sloClass) => priorities.has(sloClass),
    maxPriority: Math.max(DEFAULT_SLO_PRIORITY, ...priorities.values()),
  };
}

export function isSheddable(priority: number): boolean {
  return priority < 0;
}
