import { describe, expect, test } from 'vitest';
import { ApiError } from '../protocol/errors.js';
import { changedFaults, type Fate, FaultDice, faultsBody, NO_FAULTS } from './faults.js';

describe('fates', () => {
  const fates = (seed: number) => {
    const dice = new FaultDice({ ...NO_FAULTS, failRate: 0.1, hangRate: 0.2, disconnectRate: 0.3 }, seed);
    return Array.from({ length: 10_000 }, () => dice.draw());
  };

  test('come at the configured rate', () => {
    const drawn = fates(1);
    const share = (fate: Fate) => drawn.filter((one) => one === fate).length / drawn.length;
    expect(share('failed')).toBeCloseTo(0.1, 1);
    expect(share('hung')).toBeCloseTo(0.2, 1);
    expect(share('disconnected')).toBeCloseTo(0.3, 1);
    expect(share('served')).toBeCloseTo(0.4, 1);
  });

  test('are the same for the same seed', () => {
    expect(fates(1)).toEqual(fates(1));
    expect(fates(1)).not.toEqual(fates(2));
  });

  test('are good without configured faults', () => {
    const dice = new FaultDice(NO_FAULTS, 1);
    for (let i = 0; i < 1000; i++) expect(dice.draw()).toBe('served');
  });

  test('let at least one token through', () => {
    const dice = new FaultDice(NO_FAULTS, 1);
    for (let i = 0; i < 1000; i++) {
      const tokens = dice.tokensBeforeReset(5);
      expect(tokens).toBeGreaterThanOrEqual(1);
      expect(tokens).toBeLessThanOrEqual(5);
    }
  });
});

describe('settings', () => {
  test('change one by one', () => {
    const changed = changedFaults(NO_FAULTS, { fail_rate: 0.5, slow_factor: 3, frozen: true });
    expect(faultsBody(changed)).toEqual({
      fail_rate: 0.5,
      hang_rate: 0,
      disconnect_rate: 0,
      slow_factor: 3,
      frozen: true,
    });
    expect(changedFaults(changed, {})).toEqual(changed);
  });

  test.each([
    { fail_rate: 2 },
    { hang_rate: -1 },
    { disconnect_rate: '0.5' },
    { slow_factor: 0 },
    { slow_factor: 1e9 },
    { frozen: 1 },
    { fire: 1 },
    { failRate: 1 },
  ])('%j is refused', (body) => {
    expect(() => changedFaults(NO_FAULTS, body)).toThrow(ApiError);
  });
});
