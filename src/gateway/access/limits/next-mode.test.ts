import { expect, it } from 'vitest';
import type { GatewayMode, GatewayRow } from '../../../store/quota/gateways.js';
import { ALONE_MS, DEAD_MS, LEASE_MS, nextMode } from './next-mode.js';

const other = (mode: GatewayMode): GatewayRow => ({ id: mode, startedAt: 0, seenAt: 0, mode });
const LOCAL = other('local');
const SHARED = other('shared');
const JOINING = other('joining');

it.each<[GatewayMode, boolean, readonly GatewayRow[], number, GatewayMode]>([
  // A joining gateway.
  ['joining', false, [], 0, 'local'],
  ['joining', true, [], 0, 'local'],
  ['joining', true, [LOCAL], 0, 'joining'],
  ['joining', true, [SHARED, LOCAL], 0, 'joining'],
  ['joining', true, [SHARED], 0, 'shared'],
  ['joining', true, [JOINING], 0, 'shared'],
  // A gateway that keeps the accounts in its memory.
  ['local', true, [], 0, 'local'],
  ['local', true, [JOINING], 0, 'shared'],
  ['local', true, [LOCAL], 0, 'shared'],
  // One of several gateways, and the last of several.
  ['shared', true, [SHARED], 0, 'shared'],
  ['shared', true, [], ALONE_MS - 1, 'shared'],
  ['shared', true, [], ALONE_MS, 'local'],
  // Considered dead: it joins again, whatever its mode was.
  ['local', false, [LOCAL], 0, 'joining'],
  ['local', false, [SHARED], 0, 'shared'],
  ['local', false, [], 0, 'local'],
  ['shared', false, [LOCAL], 0, 'joining'],
  ['shared', false, [], 0, 'local'],
])('from %s (known: %s) among %j, alone for %i ms: %s', (mode, isKnown, others, aloneMs, next) => {
  expect(nextMode({ mode, isKnown, others, aloneMs })).toBe(next);
});

it('gives up its memory before the store takes over', () => {
  expect(LEASE_MS).toBeLessThan(DEAD_MS);
});
