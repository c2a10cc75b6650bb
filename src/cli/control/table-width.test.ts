import { writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { captured as twinyard } from '../test-io.fixture.js';
import { endpoint, head, inControlYard, printed, REF, server, started, streaming } from './control-yard.fixture.js';

inControlYard();

const LONG = 'a-name-of-an-endpoint-that-is-longer-than-most-others';
const MESSAGE = `the engine ended with exit code 1 before it was ready ${'and was started again '.repeat(8)}`.trim();

/** Resources whose names, labels and messages are longer than a terminal is wide. */
beforeEach(async () => {
  const described = `${head('Workspace', 'search')}spec: {description: '${MESSAGE}'}\n`;
  writeFileSync('long.yaml', `${endpoint('', LONG)}---\n${described}`);
  await printed('apply -f chat.yaml');
  await printed('apply -f long.yaml');
  const since = '2026-01-31T18:00:00.000Z';
  await server.say('chat', 'Failed', {
    ...{ ready: 0, message: MESSAGE },
    conditions: [{ type: 'Ready', status: false, reason: 'Crashed', message: MESSAGE, since }],
    replicas: [
      { id: 'chat-1', phase: 'exited', generation: 1, url: 'http://10.0.0.1:20000', restarts: 4, message: MESSAGE },
    ],
  });
  for (const name of ['chat', LONG]) {
    const record = (await server.host.store.resources.get({ ...REF, name }))!;
    await server.host.store.events.add(record, 'warning', 'ReplicaCrashed', MESSAGE);
  }
});

const tooLong = (text: string, width: number) => text.split('\n').filter((line) => line.length > width);
async function watchedText(command: string): Promise<string> {
  const watched = started(command);
  await streaming(1);
  await watched.until(LONG);
  watched.stop();
  await watched.ended;
  return watched.io.stdoutText();
}

const words = (text: string) => text.replace(/\s+/g, ' ');

describe('tables', () => {
  it.each([
    ['get endpoints', [LONG, 'qwen/qwen3-14b', 'emulator']],
    ['get endpoints -A', [LONG, 'default', 'qwen/qwen3-14b', 'emulator']],
    ['get workspaces', ['search', MESSAGE]],
    ['get all', [LONG, MESSAGE]],
    ['events', [`Endpoint default/${LONG}`, 'ReplicaCrashed', MESSAGE]],
    ['describe endpoint chat', ['http://10.0.0.1:20000', MESSAGE]],
  ])('%s fits 80 columns and leaves nothing out', async (command, shown) => {
    const { stdout: text } = await twinyard(command, { isTTY: true, columns: 80, env: { NO_COLOR: '1' } });
    expect(tooLong(text, 80)).toEqual([]);
    for (const part of shown) expect(words(text)).toContain(part);
  });

  it('fit the terminal', async () => {
    for (const command of ['get endpoints', 'events']) {
      const { stdout } = await twinyard(command, { isTTY: true, columns: 100, env: { NO_COLOR: '1' } });
      expect(tooLong(stdout, 100)).toEqual([]);
      expect(tooLong(stdout, 80)).not.toEqual([]);
    }
  });

  it.each(['get endpoints', 'get endpoints -A', 'events', 'get endpoints --watch'])(
    '%s has a line per row, of any length, where no terminal shows it',
    async (command) => {
      const text = command.endsWith('--watch') ? await watchedText(command) : await printed(command);
      const lines = text.trimEnd().split('\n');
      expect(lines.map((line) => /\s{4}\S/.test(line.slice(0, 5)))).not.toContain(true);
      expect(lines.filter((line) => line.includes(LONG))).toHaveLength(1);
      expect(lines.find((line) => line.includes(LONG))).toMatch(command === 'events' ? /again$/ : /emulator +\d+s$/);
    },
  );

  it('of --watch continue on further lines of a row', async () => {
    const watched = started('get endpoints --watch', { isTTY: true, columns: 80, env: { NO_COLOR: '1' } });
    await streaming(1);
    await watched.until(LONG);
    watched.stop();
    await watched.ended;
    expect(tooLong(watched.io.stdoutText(), 80)).toEqual([]);
    expect(watched.io.stdoutText()).toMatch(/^CHANGE .*\n {4}\S.* AGE\n/);
  });

  it('of -o wide have a line per resource, of any length', async () => {
    const lines = (await printed('get endpoints -o wide')).trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines.find((line) => line.startsWith('chat '))).toContain(MESSAGE);
  });
});
