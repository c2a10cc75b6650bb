import { expect, it } from 'vitest';
import type { KeyRecord } from './key-record.js';
import { keyView } from './key-view.js';

const NOW = Date.UTC(2026, 0, 1);
const KEY: KeyRecord = {
  id: 'abcdefghij12',
  name: 'web',
  hash: 'h4sh',
  previousHash: 'pr3vious',
  previousUntil: NOW + 1,
  hint: 'wxyz',
  tenant: 'shop',
  models: ['m'],
  maxSloClass: 'batch',
  role: 'viewer',
  limits: { '*': { dollarsPerDay: 0.5, requestsPerMinute: 60 } },
  createdAt: NOW - 86_400_000,
  expiresAt: NOW + 1000,
  revokedAt: null,
};

it('shows a key without its hashes', () => {
  expect(keyView(KEY, NOW)).toEqual({
    id: 'abcdefghij12',
    name: 'web',
    state: 'active',
    tenant: 'shop',
    hint: 'wxyz',
    role: 'viewer',
    models: ['m'],
    max_slo_class: 'batch',
    limits: { '*': { requests_per_minute: 60, dollars_per_day: 0.5 } },
    created_at: '2025-12-31T00:00:00.000Z',
    expires_at: '2026-01-01T00:00:01.000Z',
    revoked_at: null,
    previous_until: '2026-01-01T00:00:00.001Z',
  });
  expect(JSON.stringify(keyView(KEY, NOW))).not.toMatch(/h4sh|pr3vious/);
});

it('shows when a key, or its secret before the last rotation, expired', () => {
  expect(keyView(KEY, NOW + 1)).toMatchObject({ state: 'active', previous_until: null });
  expect(keyView(KEY, NOW + 1000).state).toBe('expired');
  expect(keyView({ ...KEY, revokedAt: NOW, previousUntil: null }, NOW)).toMatchObject({
    state: 'revoked',
    revoked_at: '2026-01-01T00:00:00.000Z',
    previous_until: null,
  });
  expect(keyView({ ...KEY, expiresAt: null }, NOW + 1e12).state).toBe('active');
});
