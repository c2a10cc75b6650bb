import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { JwtConfig } from '../../config/jwt-schema.js';
import { tokenRecord } from './token-record.js';

const rule = { workspace: 'a', grants: [], limits: {}, global_role: 'none' } as unknown as JwtConfig['rules'][number];
const config = (...rules: Partial<JwtConfig['rules'][number]>[]) =>
  ({ subject_claim: 'sub', rules: rules.map((one) => ({ ...rule, ...one })) }) as unknown as JwtConfig;

it('no subject can have the account of another, however it is spelt', () => {
  const idOf = (sub: string) => tokenRecord({ sub }, config({}))!.id;
  const given = 'acme/ann\r\nx: y';
  const digest = createHash('sha256').update(given).digest('hex').slice(0, 32);
  const subjects = [given, digest, `~${digest}`, `jwt:${digest}`, 'acme/ann', 'Acme/ann', 'acme/ann '];
  const ids = subjects.map(idOf);
  expect(new Set(ids).size).toBe(subjects.length);
  for (const id of ids) expect(id).toMatch(/^jwt\/a\/[\x21-\x2e\x30-\x7e]+$/);
});

const OTHERS: unknown[] = [
  { toString: 'ops' },
  { ops: true },
  { 0: 'ops', length: 1 },
  [['ops']],
  null,
  'ops,',
  'OPS',
  ['x'],
];
it.each(OTHERS.map((groups) => ({ groups })))('a token with $groups does not have the value ops', ({ groups }) => {
  expect(tokenRecord({ sub: 'ann', groups }, config({ claim: 'groups', value: 'ops' }))).toBeNull();
});

it.each([
  ['ops', 'ops'],
  [['x', 'ops'], 'ops'],
  [7, '7'],
  [true, 'true'],
])('a claim %j has the value %s', (claim, value) => {
  expect(tokenRecord({ sub: 'ann', claim }, config({ claim: 'claim', value }))).toMatchObject({ name: 'jwt:ann' });
});
