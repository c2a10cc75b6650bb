import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { newKey } from '../src/store/keys/new-key.fixture.js';
import { describeStores } from '../src/store/stores.fixture.js';

const CLIENT = fileURLToPath(new URL('./support/quota-client.mjs', import.meta.url));
const LIMIT = 500;

const children: ChildProcessWithoutNullStreams[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process that counts on the store, and what it says, line by line. */
function gateway(address: string, keyText: string) {
  const child = spawn(process.execPath, [CLIENT, address, keyText, String(LIMIT)]);
  children.push(child);
  child.stderr.pipe(process.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, ended: once(child, 'exit'), line: async () => (await lines.next()).value as string };
}

describeStores((stores) => {
  test('two gateways on one store admit exactly as many requests as the limit allows', async () => {
    const address = await stores.freshAddress();
    const store = await stores.open(address);
    const { id, secret: text } = await newKey(store, 'app', { limits: { '*': { tokens_per_month: LIMIT } } });
    // The first is alone and counts in its memory; it hands over when the second comes.
    const first = gateway(address, text);
    expect(await first.line()).toBe('ready');
    const second = gateway(address, text);
    expect(await second.line()).toBe('ready');
    for (const { child } of [first, second]) child.stdin.write('go\n');
    const said = [JSON.parse(await first.line()), JSON.parse(await second.line())];
    expect(said.map(({ mode }) => mode)).toEqual(['shared', 'shared']);
    expect(said[0].admitted + said[1].admitted).toBe(LIMIT);
    for (const { child } of [first, second]) child.stdin.end();
    expect((await Promise.all([first.ended, second.ended])).map(([code]) => code)).toEqual([0, 0]);

    const rows = await store.db.selectFrom('quota_accounts').select(['account', 'state']).execute();
    expect(rows.map(({ account }) => account)).toEqual([`${id}/*`]);
    expect(JSON.parse(rows[0]!.state)).toMatchObject({ month: [expect.any(Number), LIMIT, 0], seats: {} });
    expect(await store.db.selectFrom('gateways').selectAll().execute()).toEqual([]);
  });
});
