import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../config/gateway-config.js';
import { livePolicy } from './live-policy.js';

describe('livePolicy', () => {
  it('draws among equals unless it is told otherwise', () => {
    const tie = (options: object) =>
      (livePolicy({ ...DEFAULT_POLICY, options: { ...options } }, 1).options as { tie_break: string }).tie_break;
    expect([tie({}), tie({ tie_break: 'first' })]).toEqual(['random', 'first']);
    expect(livePolicy({ ...DEFAULT_POLICY, name: 'round-robin' }, 1).options).toEqual({});
  });

  it('leaves the size of blocks to policies that have one of their own', () => {
    expect(livePolicy({ ...DEFAULT_POLICY, blockSize: 32 }, 1).blockSize).toBe(32);
    const own = livePolicy({ ...DEFAULT_POLICY, name: 'lmetric', blockSize: 32 }, 1);
    expect(own.hash).toBe(livePolicy({ ...DEFAULT_POLICY, name: 'lmetric', blockSize: own.blockSize }, 1).hash);
  });

  it('knows which read what requests say', () => {
    expect(livePolicy({ ...DEFAULT_POLICY, name: 'chwbl' }, 1).readsBody).toBe(true);
    expect(livePolicy(DEFAULT_POLICY, 1).readsBody).toBe(false);
  });

  it('draws the same for the same seed', () => {
    const draw = (seed: number) => livePolicy(DEFAULT_POLICY, seed).random.next();
    const first = draw(1);
    expect(draw(1)).toBe(first);
    expect(draw(2)).not.toBe(first);
  });

  it('refuses what no policy is called, and options that it does not have', () => {
    expect(() => livePolicy({ ...DEFAULT_POLICY, name: 'wighted' }, 1)).toThrow("unknown routing policy 'wighted'");
    expect(() => livePolicy({ ...DEFAULT_POLICY, options: { scorer: 1 } }, 1)).toThrow('scorer');
  });
});
