import { expect, it } from 'vitest';
import { UNKNOWN_FACTS } from '../../gateway/prediction/engine-facts.js';
import { driftReason, factChange } from './drift-reason.js';

const facts = (kvBlocks: number) => ({ ...UNKNOWN_FACTS, version: '0.10.0', kvBlocks });

it('takes other KV blocks for another GPU from 5 % on: engines find a little more or less memory at each start', () => {
  expect([factChange(facts(1000), facts(1049)), factChange(facts(1000), facts(951))]).toEqual([null, null]);
  expect(factChange(facts(1000), facts(1050))).toMatchObject({ reason: 'gpu' });
  expect(factChange(facts(1000), facts(700))).toMatchObject({ reason: 'gpu' });
  expect(driftReason(facts(1000), facts(1010), { ratio: { ttft: 1.5, itl: 1.4, e2e: 1.4 } }).reason).toBe('host');
});
