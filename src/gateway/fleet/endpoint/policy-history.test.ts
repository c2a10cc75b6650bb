import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../config/gateway-config.js';
import { PolicyHistory } from './policy-history.js';

const version = (n: number) => ({ hash: `h${n}`, policy: DEFAULT_POLICY, sinceUs: n });
const hashes = (history: PolicyHistory) => history.all().map(({ hash }) => hash);

describe('PolicyHistory', () => {
  it('lists the newest first, and rolls back one by one', () => {
    const history = new PolicyHistory(version(0));
    history.add(version(1));
    history.add(version(2));
    expect(hashes(history)).toEqual(['h2', 'h1', 'h0']);
    expect(history.back(50)).toMatchObject({ hash: 'h1', sinceUs: 50 });
    expect(hashes(history)).toEqual(['h1', 'h0']);
    expect([history.back(51)!.hash, history.back(52)]).toEqual(['h0', null]);
    expect(hashes(history)).toEqual(['h0']);
  });

  it('remembers the last twenty', () => {
    const history = new PolicyHistory(version(0));
    for (let n = 1; n <= 30; n++) history.add(version(n));
    expect([history.all().length, history.all().at(-1)!.hash]).toEqual([21, 'h10']);
  });
});
