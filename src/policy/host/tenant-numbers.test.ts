import { describe, expect, it } from 'vitest';
import { TenantNumbers } from './tenant-numbers.js';

describe('TenantNumbers', () => {
  it('numbers tenants in order of appearance; none is -1', () => {
    const tenants = new TenantNumbers();
    expect(['a', '', 'b', 'a'].map((name) => tenants.of(name))).toEqual([1, -1, 2, 1]);
  });

  it('distinguishes a limited number, and always those with a reserved number', () => {
    const tenants = new TenantNumbers(2);
    expect(['a', 'b', 'c', 'd'].map((name) => tenants.of(name))).toEqual([1, 2, 0, 0]);
    expect([tenants.reserve('a'), tenants.reserve('c'), tenants.of('c'), tenants.of('d')]).toEqual([1, 3, 3, 0]);
  });
});
