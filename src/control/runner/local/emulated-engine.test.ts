import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ReplicaHandle } from '../contract.js';
import { fakeSpec } from '../fake-engine.fixture.js';
import { RUNNER_PLACEHOLDERS } from '../fill-placeholders.js';
import { LocalGround } from './local-ground.fixture.js';

const CLI = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url));

let ground: LocalGround;
beforeEach(() => {
  ground = new LocalGround();
});
afterEach(() => ground.clear());

test('emulated engines are started, serve requests, are found again and stopped', async () => {
  const flags = ['--model', 'qwen/qwen3-14b', '--speed', '1000', '--port', RUNNER_PLACEHOLDERS.port];
  const command = { command: process.execPath, args: [CLI, 'engine', ...flags] };
  const first = await ground.open();
  const ready = new Map<string, ReplicaHandle>();
  const both = new Promise<void>((resolve) => {
    first.watch(({ replica, type }) => {
      if (type === 'ready' && ready.set(replica.id, replica).size === 2) resolve();
    });
  });
  await Promise.all(['a', 'b'].map((id) => first.start(fakeSpec(id, {}, command))));
  await both;
  await first.close();

  const runner = await ground.open();
  const replicas = await runner.list();
  expect(replicas).toEqual(['a', 'b'].map((id) => ready.get(id)));
  for (const { url } of replicas) {
    const body = JSON.stringify({ model: 'qwen/qwen3-14b', prompt: 'hello', max_tokens: 3 });
    const response = await fetch(`${url}/v1/completions`, { method: 'POST', body });
    expect(await response.json()).toMatchObject({ usage: { completion_tokens: 3 } });
  }
  const exits = await Promise.all(replicas.map(({ id }) => runner.stop(id, { graceMs: 60_000 })));
  for (const [i, exit] of exits.entries()) {
    expect(exit).toMatchObject({
      reason: 'stopped',
      lastLines: [`twinyard: qwen/qwen3-14b on ${replicas[i]!.url}`],
    });
  }
  await runner.close();
  expect(await ground.processes()).toBe(0);
});
