import { describe, expect, it } from 'vitest';
import { randomStream } from '../../../kernel/random-stream.js';
import { gapSamplerOf } from '../plan-schedules.js';
import { client, cohort } from '../test-spec.fixture.js';
import { ActiveTimes } from './active-times.js';
import { LoneSchedule } from './lone-schedule.js';
import { activeTimesOf, diurnalWindows, drainWindows, ownWindowsOf } from './patterns.js';
import type { Schedule } from './schedule.js';
import { SteadySchedule } from './steady-schedule.js';
import { UserSchedule } from './user-schedule.js';
import { WindowSchedule } from './window-schedule.js';

const NEVER = Number.POSITIVE_INFINITY;
const everyTen = gapSamplerOf({ process: 'constant' }, 1e5);
const random = randomStream(1, 'schedules');

function first(schedule: Schedule, count: number, member = 0): number[] {
  return Array.from({ length: count }, () => schedule.next(member, random));
}

const windows = (...edges: [number, number][]) => edges.map(([start_us, end_us]) => ({ start_us, end_us }));

describe('ActiveTimes', () => {
  it('returns when a client is active next', () => {
    const times = new ActiveTimes(windows([10, 20], [50, 60]));
    expect([0, 10, 19, 20, 55, 60].map((at) => times.firstFrom(at))).toEqual([10, 10, 19, 50, 55, NEVER]);
  });

  it('repeats after its period', () => {
    const times = new ActiveTimes(windows([10, 20]), 100);
    expect([0, 20, 115, 950].map((at) => times.firstFrom(at))).toEqual([10, 110, 115, 1010]);
  });

  it('returns whether two overlap', () => {
    const times = new ActiveTimes(windows([10, 20], [50, 60]));
    const meets = (...edges: [number, number][]) => times.meets(new ActiveTimes(windows(...edges)));
    expect(meets([0, 10], [20, 50], [60, 70])).toBe(false);
    expect(meets([0, 11])).toBe(true);
    expect(meets([20, 30], [59, 60])).toBe(true);
    expect(times.meets(new ActiveTimes(windows([90, 95]), 100))).toBe(true);
  });
});

describe('SteadySchedule', () => {
  it('sends one gap after the start, then gap after gap up to the horizon', () => {
    expect(first(new SteadySchedule(everyTen, null, 1, 35), 5)).toEqual([10, 20, 30, NEVER, NEVER]);
  });

  it('leaves out arrivals outside the windows, whose ends are exclusive', () => {
    const active = new ActiveTimes(windows([15, 40], [70, 80]));
    expect(first(new SteadySchedule(everyTen, active, 1, NEVER), 4)).toEqual([20, 30, 70, NEVER]);
  });

  it('continues in repeating windows, until the horizon', () => {
    const active = new ActiveTimes(windows([0, 15]), 50);
    expect(first(new SteadySchedule(everyTen, active, 1, 115), 6)).toEqual([10, 50, 60, 100, 110, NEVER]);
  });

  it('keeps the members apart', () => {
    const schedule = new SteadySchedule(everyTen, null, 2, NEVER);
    expect([first(schedule, 3), first(schedule, 1, 1)]).toEqual([[10, 20, 30], [10]]);
    expect(schedule.lengthsOf()).toBe(0);
  });

  it('never sends twice in a microsecond', () => {
    expect(first(new SteadySchedule(gapSamplerOf({ process: 'poisson' }, 1e9), null, 1, NEVER), 3)).toEqual([1, 2, 3]);
  });
});

describe('WindowSchedule', () => {
  const window = (startUs: number, endUs: number, requests: number | null) => ({
    startUs,
    endUs,
    gaps: everyTen,
    requests,
  });

  it('stretches gaps so that the last one ends with the window', () => {
    const schedule = new WindowSchedule([window(100, 200, 4), window(300, 400, 1)], 1, NEVER);
    expect(first(schedule, 4)).toEqual([120, 140, 160, 180]);
    expect(schedule.lengthsOf(0)).toBe(1);
    expect(first(schedule, 2)).toEqual([350, NEVER]);
  });

  it('spreads requests evenly over the members', () => {
    const schedule = new WindowSchedule([window(0, 100, 5)], 3, NEVER);
    const counts = [0, 1, 2].map((member) => first(schedule, 4, member).filter((at) => at < NEVER).length);
    expect(counts).toEqual([2, 2, 1]);
    const few = new WindowSchedule([window(0, 100, 1), window(100, 200, 2)], 2, NEVER);
    expect(first(few, 1, 1)).toEqual([150]);
  });

  it('fills a window at random without stretching when no count is given', () => {
    const schedule = new WindowSchedule([window(100, 125, null), window(125, 145, null)], 1, NEVER);
    expect(first(schedule, 5)).toEqual([110, 120, 135, NEVER, NEVER]);
  });

  it('ends at the horizon', () => {
    expect(first(new WindowSchedule([window(0, 100, 4)], 1, 45), 3)).toEqual([20, 40, NEVER]);
  });

  it('returns the same times again, bursts included', () => {
    const bursts = { startUs: 0, endUs: 1e9, gaps: gapSamplerOf({ process: 'gamma', cv: 20 }, 10), requests: 500 };
    const times = () => {
      const schedule = new WindowSchedule([bursts], 1, NEVER);
      const own = randomStream(2, 'bursts');
      return Array.from({ length: 501 }, () => schedule.next(0, own));
    };
    expect(times()).toEqual(times());
    const [last, none] = times().slice(499);
    expect(last).toBeLessThan(1e9);
    expect(none).toBe(NEVER);
    for (const [i, at] of times().entries()) expect(at).toBeGreaterThanOrEqual(times()[i - 1] ?? 0);
  });
});

describe('UserSchedule', () => {
  it('spreads users over one pause, from the first window on', () => {
    expect(first(new UserSchedule(4, 10_000, null, NEVER), 5)).toEqual([0, 2500, 5000, 7500, NEVER]);
    expect(first(new UserSchedule(2, 0, new ActiveTimes(windows([70, 90])), NEVER), 3)).toEqual([70, 70, NEVER]);
    const short = new UserSchedule(4, 10_000, null, 3000);
    expect([...first(short, 3), short.lengthsOf()]).toEqual([0, 2500, NEVER, 0]);
  });
});

describe('LoneSchedule', () => {
  it('sends once for every member', () => {
    const schedule = new LoneSchedule(77, 2, NEVER);
    expect([...first(schedule, 2), ...first(schedule, 2, 1)]).toEqual([77, NEVER, 77, NEVER]);
    expect(first(new LoneSchedule(77, 1, 76), 1)).toEqual([NEVER]);
    expect(schedule.lengthsOf()).toBe(0);
  });
});

describe('patterns', () => {
  const HOUR = 3_600_000_000;

  it('diurnal: all of the peak hour, the least twelve hours later', () => {
    const day = diurnalWindows({ peak_hour: 14, peak_to_trough_ratio: 4 });
    const share = (hour: number) => (day[hour]!.end_us - day[hour]!.start_us) / HOUR;
    expect(day.map(({ start_us }) => start_us)).toEqual(Array.from({ length: 24 }, (_, hour) => hour * HOUR));
    expect(share(14)).toBe(1);
    expect(share(2)).toBe(0.25);
    expect(share(20)).toBeCloseTo(0.625, 9);
    const times = activeTimesOf(cohort('c', 1, { diurnal: { peak_hour: 14, peak_to_trough_ratio: 4 } }))!;
    expect(times.firstFrom(26.5 * HOUR)).toBe(27 * HOUR);
  });

  it('drain: all, then ten steps of ever shorter activity', () => {
    const ramp = drainWindows({ start_time_us: 1000, ramp_duration_us: 100 });
    expect(ramp.length).toBe(11);
    expect(ramp[0]).toEqual({ start_us: 0, end_us: 1000 });
    expect(ramp.slice(1).map(({ start_us, end_us }) => end_us - start_us)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(drainWindows({ start_time_us: 0, ramp_duration_us: 100 })).toHaveLength(10);
    expect(activeTimesOf(cohort('c', 1, { drain: { start_time_us: 0, ramp_duration_us: 100 } }))!.count).toBe(10);
  });

  it('spike: one window, with its own rate if one is given', () => {
    const spike = { start_time_us: 5, duration_us: 10 };
    expect(activeTimesOf(cohort('c', 1, { spike }))!.firstFrom(0)).toBe(5);
    expect(ownWindowsOf(cohort('c', 1, { spike }))).toEqual([]);
    const own = ownWindowsOf(cohort('c', 1, { spike: { ...spike, trace_rate: 2 } }));
    expect(own).toEqual([{ start_us: 5, end_us: 15, trace_rate: 2 }]);
  });

  it('all others are always active', () => {
    expect(activeTimesOf(client('a'))).toBeNull();
    expect(activeTimesOf(cohort('c', 1))).toBeNull();
  });
});
