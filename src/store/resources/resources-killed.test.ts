import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { describeStores } from '../stores.fixture.js';
import { Resources } from './resources.js';

const DIST = new URL('../../../dist/store/', import.meta.url);
const ROUNDS = 8;
const draws = randomStream(11, 'moments to be killed at');

/** Creates, changes, reports on, deletes and removes resources in a loop, until it is killed. */
const LIFE = `
  import { writeSync } from 'node:fs';
  const [address, life] = process.argv.slice(1);
  const { openStore } = await import(${JSON.stringify(new URL('open-store.js', DIST).href)});
  const { Resources } = await import(${JSON.stringify(new URL('resources/resources.js', DIST).href)});
  const resources = new Resources(await openStore(address));
  const said = (...words) => writeSync(1, words.join(' ') + '\\n');
  for (let i = 0; ; i++) {
    const ref = { kind: 'Role', workspace: 'w', name: life + '-' + i };
    const made = await resources.change('life', (tx) => tx.put(ref, { spec: { n: 1, pad: 'x'.repeat(2000) }, labels: {} }, null));
    said('made', ref.name, made.resourceVersion);
    await resources.change('life', (tx) => tx.put(ref, { spec: { n: 2 }, labels: {} }, made.resourceVersion));
    said('changed', ref.name);
    await resources.change('life', (tx) => tx.putStatus(ref, made.uid, { phase: 'Ready' }), 'past-crashes');
    said('status', ref.name);
    if (i % 2 === 0) continue;
    await resources.change('life', (tx) => tx.markDeleted(ref));
    said('deleting', ref.name);
    await resources.change('life', (tx) => tx.remove(ref, made.uid));
    said('removed', ref.name);
  }
`;

/** What a process acknowledged before it was killed. */
async function killed(address: string, life: number): Promise<string[][]> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', LIFE, '--', address, String(life)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const last = 1 + draws.below(20);
  const spins = draws.below(300_000);
  const acknowledged: string[][] = [];
  for await (const line of createInterface(child.stdout)) {
    acknowledged.push(line.split(' '));
    if (acknowledged.length !== last) continue;
    // A different moment within the next write each time, without waiting for a clock.
    for (let i = 0; i < spins; i++) Math.imul(i, i);
    child.kill('SIGKILL');
  }
  expect((await ended)[1]).toBe('SIGKILL');
  return acknowledged;
}

const STEPS = ['made', 'changed', 'status', 'deleting', 'removed'];

describeStores((stores) => {
  test('kill -9 loses no acknowledged change of a resource, and leaves none half done', async () => {
    const address = await stores.freshAddress();
    const furthest = new Map<string, number>();
    for (let life = 0; life < ROUNDS; life++) {
      for (const [what, name] of await killed(address, life)) furthest.set(name!, STEPS.indexOf(what!));
      const store = await stores.open(address);
      const resources = new Resources(store);
      const found = new Map((await resources.list()).map((record) => [record.name, record]));
      const log = await resources.audit({ limit: 10_000 });
      for (const [name, step] of furthest) {
        const record = found.get(name);
        // The change in progress may have got one step further than was acknowledged.
        if (record === undefined) expect(step).toBeGreaterThanOrEqual(STEPS.indexOf('deleting'));
        else {
          expect(step).toBeLessThan(STEPS.indexOf('removed'));
          if (step >= 1) expect(record).toMatchObject({ spec: { n: 2 }, generation: 2 });
          if (step >= 2) expect(record.status).toEqual({ phase: 'Ready' });
          if (step >= 3) expect(record.deletedAt).not.toBeNull();
        }
      }
      // A resource and its audit log agree, and no version is used twice.
      for (const { deletedAt, name, specVersion } of found.values()) {
        const last = log.find((entry) => entry.name === name)!;
        expect([last.version, last.action === 'delete']).toEqual([specVersion, deletedAt !== null]);
      }
      const highest = Math.max(
        ...log.map(({ version }) => version),
        ...[...found.values()].map((one) => one.resourceVersion),
      );
      expect(await resources.version()).toBeGreaterThanOrEqual(highest);
    }
    expect(furthest.size).toBeGreaterThan(ROUNDS);
  });
});
