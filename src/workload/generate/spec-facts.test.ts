import { describe, expect, it } from 'vitest';
import { endsByItself, mixesRatesAndUsers } from './spec-facts.js';
import { client, cohort, specOf } from './test-spec.fixture.js';

const windows = { lifecycle: { windows: [{ start_us: 0, end_us: 5 }] } };
const talk = (more: object = {}) => ({ reasoning: { multi_turn: { max_rounds: 2, ...more } } });

describe('endsByItself', () => {
  it('holds when all clients stop', () => {
    expect(endsByItself(specOf([client('a', windows), client('b', talk({ single_session: true }))]))).toBe(true);
    expect(endsByItself(specOf([client('a', windows), client('b')]))).toBe(false);
    expect(endsByItself(specOf([client('a', talk())]))).toBe(false);
    const spike = { spike: { start_time_us: 0, duration_us: 5 } };
    const diurnal = { diurnal: { peak_hour: 1, peak_to_trough_ratio: 2 } };
    expect(endsByItself(specOf([], { cohorts: [cohort('c', 1, spike)] }))).toBe(true);
    expect(endsByItself(specOf([], { cohorts: [cohort('c', 1, diurnal)] }))).toBe(false);
  });
});

describe('mixesRatesAndUsers', () => {
  it('holds only for both together', () => {
    const users = client('users', { concurrency: 2 });
    expect(mixesRatesAndUsers(specOf([users, client('a')]))).toBe(true);
    expect(mixesRatesAndUsers(specOf([users]))).toBe(false);
    expect(mixesRatesAndUsers(specOf([client('a')]))).toBe(false);
  });
});
