import type { ArrivalProcess } from './arrival-process.js';

export const constantArrivals: ArrivalProcess = {
  name: 'constant',
  summary: 'one after the other at equal distances',
  cv: null,
  create(meanGapUs) {
    // Truncated once: otherwise a gap of 333,333.3 us would give other whole microseconds than 333,333.
    const gapUs = Math.trunc(meanGapUs);
    return { draw: () => gapUs };
  },
};
