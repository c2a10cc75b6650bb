import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { chwbl } from './chwbl.js';
import { pickerOf } from './parts/picker.fixture.js';

const md5 = (text: string) => BigInt(`0x${createHash('md5').update(text).digest('hex').slice(0, 16)}`);
const IDS = Array.from({ length: 8 }, (_, i) => `replica-${i}`);

/** Replicas in the order in which a key passes them. */
function order(key: string, points = 100): number[] {
  const ring = IDS.flatMap((id, slot) =>
    Array.from({ length: points }, (_, i) => ({ slot, at: md5(`${id}:${i}`) })),
  ).sort((a, b) => (a.at < b.at ? -1 : 1));
  const after = ring.filter(({ at }) => at >= md5(key));
  return [...new Set([...after, ...ring].map(({ slot }) => slot))];
}

const system = { role: 'system', content: 'Be brief ☃' };
const user = (content: unknown) => ({ role: 'user', content });

describe('the key', () => {
  const home = (body: Record<string, unknown> | null, options: object = {}, contentKey = '') => {
    const { request, ask } = pickerOf(chwbl, 8, options);
    request.body = body;
    request.contentKey = contentKey;
    return ask();
  };

  it.each([
    [
      'a system prompt and two user messages',
      [user('a'), system, user('b'), user('c')],
      'system:Be brief ☃|user_0:a|user_1:b',
    ],
    ['no system prompt', [user('a'), user('b')], 'user_0:a|user_1:b'],
    ['an empty system prompt, and another', [{ role: 'system', content: '' }, system, user('a')], 'user_0:a'],
    [
      'parts',
      [
        user([
          { type: 'text', text: 'a' },
          { z: 1, type: 'image' },
        ]),
      ],
      'user_0:a{"type":"image","z":1}',
    ],
    ['no user message', [system], 'system:Be brief ☃'],
  ])('of a session with %s', (_what, messages, key) => {
    expect(home({ messages })).toBe(order(key)[0]);
  });

  it('of a body without messages is its JSON', () => {
    expect(home({ prompt: 'Once', model: 'm' })).toBe(order('{"model":"m","prompt":"Once"}')[0]);
    expect(home({ prompt: 'Once', model: 'm' }, { key: 'first-message' })).toBe(
      order('{"model":"m","prompt":"Once"}')[0],
    );
  });

  it('has as many user messages as the option sets', () => {
    const messages = [system, user('a'), user('b'), user('c')];
    const homeOf = (max_user_messages_for_cache: number) => home({ messages }, { max_user_messages_for_cache });
    expect(homeOf(0)).toBe(order('system:Be brief ☃')[0]);
    expect(homeOf(3)).toBe(order('system:Be brief ☃|user_0:a|user_1:b|user_2:c')[0]);
  });

  it('can be the first message, or the first block, which do not change during a session', () => {
    const messages = [system, user('a'), user('b')];
    expect(home({ messages }, { key: 'first-message' })).toBe(order('user_0:a')[0]);
    expect(home({ messages }, { key: 'prefix-blocks' }, 'block:7')).toBe(order('block:7')[0]);
    expect(chwbl.reads({ key: 'prefix-blocks' } as never)).toEqual(['inFlight', 'contentKey']);
    expect(chwbl.reads({ key: 'messages' } as never)).toEqual(['inFlight', 'body']);
  });

  it('is the content key for a request without text', () => {
    expect(home(null, {}, 'session:s')).toBe(order('session:s')[0]);
    expect(home(null, { virtual_nodes_per_replica: 3 }, 'session:s')).toBe(order('session:s', 3)[0]);
  });
});

describe('the bound', () => {
  function keyed(options: object = {}) {
    const host = pickerOf(chwbl, 8, options);
    host.request.contentKey = 'k';
    return { ...host, ring: order('k') };
  }

  it('is a quarter above the mean with the request itself; above it the next replica on the ring takes the request', () => {
    const { view, why, ask, fact, ring } = keyed();
    view.inFlight.fill(4);
    // 33 requests on 8 replicas: 5.15 each.
    expect(ask()).toBe(ring[0]);
    expect(fact('bound')).toEqual(new Array(8).fill((1.25 * 33) / 8));
    view.inFlight[ring[0]!] = 5;
    expect(ask()).toBe(ring[1]);
    view.inFlight[ring[1]!] = 6;
    expect(ask()).toBe(ring[2]);
    expect([...why.removed.keys()]).toEqual([ring[0], ring[1]]);
    expect(why).toMatchObject({ scored: false, rule: 'next on the ring after the home of its key' });
  });

  it('leaves the request at its home when all replicas exceed it, as in an idle fleet', () => {
    const { view, why, ask, ring } = keyed();
    const loads: number[] = [];
    for (let total = 0; total < 9; total++) {
      const chosen = ask();
      loads.push(ring.indexOf(chosen));
      view.inFlight[chosen]!++;
      if (total === 0) expect(why.rule).toBe('home of its key: all replicas exceed the bound');
    }
    // n = 8: no replica is within the bound until 6 are in flight.
    expect(loads).toEqual([0, 0, 0, 0, 0, 0, 1, 2, 3]);
  });

  it('rounded up lets every idle replica accept a request', () => {
    const { view, ask, ring } = keyed({ capacity: 'ceil' });
    const loads: number[] = [];
    for (let total = 0; total < 9; total++) {
      const chosen = ask();
      loads.push(ring.indexOf(chosen));
      view.inFlight[chosen]!++;
    }
    expect(loads).toEqual([0, 1, 2, 3, 4, 5, 0, 1, 2]);
  });

  it('is a share among the eligible', () => {
    const { view, ask, ring } = keyed({ load_factor: 2 });
    view.inFlight.fill(50);
    for (const slot of [ring[0]!, ring[3]!]) {
      view.eligible.fill(0);
      view.eligible[slot] = 1;
      expect(ask()).toBe(slot);
    }
    view.eligible[ring[0]!] = 1;
    view.inFlight.fill(0);
    view.inFlight[ring[0]!] = 1;
    // Of these two: 2 * (1 + 1) / 2 = 2.
    expect(ask()).toBe(ring[0]);
    view.inFlight[ring[0]!] = 2;
    expect(ask()).toBe(ring[0]);
    view.inFlight[ring[0]!] = 3;
    expect(ask()).toBe(ring[0]);
  });
});
