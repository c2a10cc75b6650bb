import { describe, expect, it } from 'vitest';
import { arrivalOrder } from '../arrival-order.js';
import { range, type TestRequest, testTrace } from './block-trace.fixture.js';
import { findSessions } from './find-sessions.js';
import { sessionGroups, turnsOf } from './session-groups.js';
import { sharedPrefixes } from './shared-prefixes.js';

/** Id, number of sessions and number of requests of each group. */
function groupsOf(requests: readonly TestRequest[]) {
  const { table } = testTrace(requests);
  const prefixes = sharedPrefixes(table);
  const chats = findSessions(table, arrivalOrder(table), prefixes);
  return sessionGroups(table, chats, prefixes).map((group) => ({
    ...group,
    count: group.chats.length,
    requests: group.chats.reduce((sum, chat) => sum + turnsOf(chats, chat), 0),
  }));
}

/** The turns of this many sessions of each length. */
function chats(counts: Record<number, number>, more: TestRequest = {}): TestRequest[] {
  return Object.entries(counts).flatMap(([turns, count]) =>
    range(0, count).flatMap((chat) =>
      range(0, Number(turns)).map(() => ({ ...more, session: `${more.client}-${turns}-${chat}` })),
    ),
  );
}

describe('chatGroups', () => {
  it('divides by client, tenant and class, and uses the best recorded name', () => {
    const groups = groupsOf([
      { client: 'app', tenant: 'shop' },
      { tenant: 'shop' },
      { client: 'app', tenant: 'office' },
      { sloClass: 'batch' },
      {},
      { client: 'app', tenant: 'shop' },
    ]);
    expect(groups.map(({ id, count }) => [id, count])).toEqual([
      ['app', 2],
      ['shop', 1],
      ['app#2', 1],
      ['batch', 1],
      ['requests', 1],
    ]);
  });

  it('divides by shared prefix', () => {
    const groups = groupsOf([{ group: 'a' }, { group: 'b' }, {}, { group: 'a' }]);
    expect(groups.map(({ id, prefix, count }) => [id, prefix, count])).toEqual([
      ['requests', 1, 2],
      ['requests#2', 2, 1],
      ['requests#3', 0, 1],
    ]);
  });

  it('divides by the number of turns, where there are enough', () => {
    const turns = chats({ 1: 4000, 2: 1000, 3: 600, 4: 400, 7: 300, 8: 20, 9: 12 }, { client: 'app' });
    expect(groupsOf(turns).map(({ id, count, requests }) => [id, count, requests])).toEqual([
      ['app', 4000, 4000],
      ['app/chats-2-turns-up', 1600, 3800],
      ['app/chats-4-turns-up', 700, 3700],
      ['app/chats-8-turns-up', 32, 268],
    ]);
    expect(groupsOf(chats({ 1: 40, 2: 40, 5: 20, 9: 3 })).map(({ count }) => count)).toEqual([40, 63]);
  });

  it('gives a separate client to a session that would make traffic depend on chance', () => {
    const groups = groupsOf(chats({ 1: 200, 3: 30, 90: 1, 60: 2, 5: 4 }, { client: 'app' }));
    expect(groups.map(({ id, requests, isOneChat }) => [id, requests, isOneChat])).toEqual([
      ['app', 200, false],
      ['app/chats-2-turns-up', 110, false],
      ['app/chat', 90, true],
      ['app/chat#2', 60, true],
      ['app/chat#3', 60, true],
    ]);
  });

  it('does the same for the only session of a client, but not when all sessions are long', () => {
    expect(groupsOf(chats({ 5: 1 })).map(({ isOneChat }) => isOneChat)).toEqual([true]);
    expect(groupsOf(chats({ 1: 1 })).map(({ isOneChat }) => isOneChat)).toEqual([false]);
    expect(groupsOf(chats({ 50: 20 })).map(({ count }) => count)).toEqual([20]);
  });

  it('gives a separate client to at most 32 sessions', () => {
    const groups = groupsOf(chats({ 1: 2000, 40: 50 }));
    expect(groups.filter(({ isOneChat }) => isOneChat)).toHaveLength(32);
  });

  it('distinguishes the 31 largest clients, and the classes of the others', () => {
    const large = range(0, 31).flatMap((i) => [{ client: `large-${i}` }, { client: `large-${i}` }]);
    const small = range(0, 9).map((i) => ({ client: `small-${i}`, tenant: `t${i}`, sloClass: i < 3 ? 'batch' : '' }));
    const groups = groupsOf([...large, ...small]);
    expect(groups.slice(31).map(({ id, count, isMixed }) => [id, count, isMixed])).toEqual([
      ['others', 3, true],
      ['others#2', 6, true],
    ]);
    expect(groups.slice(0, 31).every(({ count, isMixed }) => count === 2 && !isMixed)).toBe(true);
  });
});
