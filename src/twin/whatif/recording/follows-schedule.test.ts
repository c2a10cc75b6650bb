import { describe, expect, it } from 'vitest';
import { exponential } from '../../../kernel/distributions.js';
import { randomStream } from '../../../kernel/random-stream.js';
import { followsSchedule } from './follows-schedule.js';

const random = randomStream(1, 'turns');
const responses = Array.from({ length: 400 }, () => 2e6 + exponential(random, 1e6));

describe('whether turns follow a schedule', () => {
  it('is seen where every turn has its time, and pauses are what the responses leave', () => {
    const pauses = responses.map((us) => 20e6 + exponential(random, 3e6) - us);
    expect(followsSchedule(pauses, responses)).toBe(true);
  });

  it('is not assumed of clients that think after a response, of few turns, or of responses that all take as long', () => {
    const pauses = responses.map(() => exponential(random, 3e6));
    expect(followsSchedule(pauses, responses)).toBe(false);
    expect(followsSchedule([1, 2, 3], [3, 2, 1])).toBe(false);
    expect(followsSchedule(new Array(50).fill(7), new Array(50).fill(9))).toBe(false);
  });
});
