import { expect, it } from 'vitest';
import { DEFAULT_POLICY, type PolicyConfig } from '../config/gateway-config.js';
import { DecidingFleet } from './deciding-fleet.js';

const hash = (change: Partial<PolicyConfig>) =>
  new DecidingFleet({ ...DEFAULT_POLICY, name: 'weighted', ...change }, 1, 5000).policyHash;

it('is the same for policies that decide alike', () => {
  expect(hash({})).toMatch(/^[0-9a-f]{12}$/);
  expect(hash({ options: { tie_break: 'random' } })).toBe(hash({}));
  expect(hash({ seatsPerReplica: 3 })).toBe(hash({}));
  // A block size of its own replaces that of the gateway.
  const own = { name: 'lmetric', options: { block_size: 64 } };
  expect(hash({ ...own, blockSize: 32 })).toBe(hash(own));
});

it('differs in everything that decides', () => {
  const changes: Partial<PolicyConfig>[] = [
    {},
    { name: 'lmetric' },
    { options: { scorers: 'queue-depth:1' } },
    { blockSize: 32 },
    { cacheBlocks: 1 },
    { admission: { policy: 'reject-all', options: {} } },
    { sloPriorities: { gold: 9 } },
    { tenantBudgets: { t: 0.5 } },
    { tenantBudgets: { t: 0.5 }, seatsPerReplica: 3 },
  ];
  expect(new Set(changes.map(hash)).size).toBe(changes.length);
});
