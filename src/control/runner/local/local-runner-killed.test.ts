import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { randomStream } from '../../../kernel/random-stream.js';
import { fakeSpec } from '../fake-engine.fixture.js';
import { LocalGround } from './local-ground.fixture.js';

const DIST = new URL('../../../../dist/control/runner/local/local-runner.js', import.meta.url).href;

/** A replica of two processes that is there at once. */
const SPEC = fakeSpec('', {}, { command: 'sh', args: ['-c', 'sleep 1000 & wait'] });

/**
 * A control plane that adopts its replicas, then starts three and stops the second, again and again, and prints what it
 * has done, until it is killed; or it kills itself just before or after it writes a state.
 */
const LIFE = `
  import fs, { readFileSync, writeSync } from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const [folder, life, spec, dies] = process.argv.slice(1);
  const say = (...words) => writeSync(1, words.join(' ') + '\\n');
  const { LocalRunner } = await import(${JSON.stringify(DIST)});
  const runner = await LocalRunner.open({ folder, onFault: (error) => { throw error; } });
  const rename = fs.renameSync;
  let renames = 0;
  fs.renameSync = (...paths) => {
    renames++;
    if (dies === 'before ' + renames) process.kill(process.pid, 'SIGKILL');
    rename(...paths);
    if (dies === 'after ' + renames) process.kill(process.pid, 'SIGKILL');
  };
  syncBuiltinESMExports();
  for (let i = 0; ; i++) {
    const id = 'life-' + life + '-' + i;
    await runner.start({ ...JSON.parse(spec), id });
    const state = JSON.parse(readFileSync(folder + '/replicas/' + id + '/state.json', 'utf8'));
    say('started', id, state.process.pid);
    if (i % 3 !== 1 && dies === '') continue;
    say('stopping', id);
    await runner.stop(id, { graceMs: 60_000 });
    say('stopped', id);
  }
`;

let ground: LocalGround;
beforeEach(() => {
  ground = new LocalGround();
});
afterEach(() => ground.clear());

/** Its output before it was killed, at a random time after `words` lines. */
async function lived(
  life: number,
  { dies = '', words = Number.POSITIVE_INFINITY, spins = 0 } = {},
): Promise<string[][]> {
  const args = ['--input-type=module', '-e', LIFE, '--', ground.folder, String(life), JSON.stringify(SPEC), dies];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const printed: string[][] = [];
  for await (const line of createInterface(child.stdout)) {
    printed.push(line.split(' '));
    if (printed.length !== words) continue;
    // A random moment within the next step, without a timer.
    for (let i = 0; i < spins; i++) Math.imul(i, i);
    child.kill('SIGKILL');
  }
  expect((await ended)[1]).toBe('SIGKILL');
  return printed;
}

/** The replicas that a later control plane finds, with their pids: exactly those that run. */
async function found(): Promise<Map<string, number>> {
  const runner = await ground.open();
  const running = (await runner.list()).filter(({ exit }) => exit === null);
  const pids = new Map(running.map(({ id }) => [id, ground.pidOf(id)]));
  await runner.close();
  const names = (await ground.found()).flatMap(({ folders }) => folders.map((folder) => basename(folder)));
  expect(new Set(names)).toEqual(new Set(running.map(({ id }) => id)));
  return pids;
}

describe('a control plane that is killed', () => {
  test('at any moment leaves replicas that are found, and no others', async () => {
    const random = randomStream(7, 'moments to be killed at');
    const started = new Map<string, number>();
    for (let life = 0; life < 6; life++) {
      const printed = await lived(life, { words: random.below(9) + 1, spins: random.below(3e7) });
      expect(printed.length).toBeGreaterThan(0);
      const stopping = printed.filter(([what]) => what === 'stopping').map(([, id]) => id!);
      for (const [what, id, pid] of printed) if (what === 'started') started.set(id!, Number(pid));
      for (const id of stopping) started.delete(id);
      const now = await found();
      for (const [id, pid] of started) expect(now.get(id), id).toBe(pid);
      for (const [what, id] of printed) if (what === 'stopped') expect(now.has(id!)).toBe(false);
      // Started, but killed before it was printed: one at most.
      const unprinted = [...now.keys()].filter((id) => !started.has(id) && !stopping.includes(id));
      expect(unprinted.length).toBeLessThanOrEqual(1);
      for (const id of unprinted) started.set(id, now.get(id)!);
    }
    const runner = await ground.open();
    const all = await runner.list();
    expect(all.length).toBeGreaterThan(6);
    await Promise.all(all.map(({ id }) => runner.stop(id, { graceMs: 60_000 })));
    await runner.close();
    expect(await ground.processes()).toBe(0);
  });

  test.each([
    ['before its process is recorded: killed', 'before 1', 'ended'],
    ['before the engine is released: killed', 'after 1', 'ended'],
    ['before the release is recorded: killed', 'before 2', 'ended'],
    ['after the release is recorded: adopted', 'after 2', 'found'],
    ['before the stop is recorded: adopted', 'before 3', 'found'],
    ['after the stop is recorded: killed', 'after 3', 'ended'],
    ['before the exit is recorded: removed', 'before 4', 'ended'],
    ['after the exit is recorded: removed', 'after 4', 'ended'],
  ])('%s', async (_, dies, expected) => {
    await lived(0, { dies });
    expect([...(await found()).keys()]).toEqual(expected === 'found' ? ['life-0-0'] : []);
  });
});
