import { expect, it } from 'vitest';
import type { Caller } from './caller.js';
import { whileAllowed } from './while-allowed.js';

const OPERATOR: Caller = { name: 'a/k', role: 'none', workspaces: new Map([['a', 'operator']]) };

/** Items of a stream, one every 600 ms, whose caller is another one from the fourth on. */
async function seen(later: Caller | null): Promise<string[]> {
  let item = 0;
  async function* stream() {
    for (item = 1; item <= 6; item++) yield String(item);
  }
  const now = async () => (item >= 4 ? later : { ...OPERATOR, workspaces: new Map(OPERATOR.workspaces) });
  const found: string[] = [];
  for await (const one of whileAllowed(stream(), OPERATOR, now, () => 600 * item)) found.push(one);
  return found;
}

it.each<[string, Caller | null]>([
  ['has no valid key', null],
  ['has lost its role', { ...OPERATOR, workspaces: new Map() }],
  ['has another role', { ...OPERATOR, workspaces: new Map([['a', 'viewer']]) }],
  ['has a role in another workspace', { ...OPERATOR, workspaces: new Map([['b', 'operator']]) }],
  ['has a role in every workspace', { ...OPERATOR, role: 'viewer' }],
])('a stream ends within a second after its caller %s', async (_, later) => {
  expect(await seen(later)).toEqual(['1', '2', '3']);
});

it('a stream goes on while its caller has the same rights', async () => {
  expect(await seen(OPERATOR)).toHaveLength(6);
});
