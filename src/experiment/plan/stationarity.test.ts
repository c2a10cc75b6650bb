import { describe, expect, it } from 'vitest';
import type { SteadyState } from '../runs/steady-state.js';
import { stationarity } from './stationarity.js';

const run = (inFlight: number[], changes: Partial<SteadyState> = {}): SteadyState => ({
  ...{ requests: 1000, unservable: 0, lengthCapped: 0, lost: 0, warmUpS: 10, measuredS: 100, arrivedPerS: 10 },
  ...{ finishedPerS: 10, e2eP50S: 2, values: [], parts: [], isSaturated: false, promptTokens: { mean: 1, p99: 1 } },
  inFlight,
  ...changes,
});

const LEVEL = [20, 21, 19, 20, 22, 19, 20, 20];
const GROWING = [20, 23, 25, 29, 31, 34, 37, 41];

describe('stationarity', () => {
  it('tells a backlog that grows from one that goes up and down', () => {
    expect(stationarity([run(LEVEL)], false).isGrowing).toBe(false);
    expect(stationarity([run(GROWING)], false)).toMatchObject({ isGrowing: true });
  });

  it('sees over several seeds what chance hides in one', () => {
    const noise = [6, -9, 8, -2, -8, 9, -6, 2];
    const slow = [20, 20.5, 21, 21.5, 22, 22.5, 23, 23.5];
    const first = run(slow.map((value, i) => value + noise[i]!));
    const second = run(slow.map((value, i) => value - noise[i]!));
    expect(stationarity([first], false).isGrowing).toBe(false);
    expect(stationarity([first, second], false).isGrowing).toBe(true);
  });

  it('lets recorded traffic rise and fall, and trusts the verdict on the whole run', () => {
    expect(stationarity([run(GROWING)], true).isGrowing).toBe(false);
    expect(stationarity([run(LEVEL, { isSaturated: true })], true).isGrowing).toBe(true);
  });

  it('says how much longer a run has to be than a few requests', () => {
    expect(stationarity([run(LEVEL)], false).lengthFactor).toBe(1);
    expect(stationarity([run(LEVEL, { e2eP50S: 50 })], false).lengthFactor).toBeGreaterThan(5);
  });
});
