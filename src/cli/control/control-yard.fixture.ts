import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect } from 'vitest';
import { main } from '../program.js';
import { inTestFolder } from '../test-folder.fixture.js';
import { type Terminal, testIo, captured as twinyard } from '../test-io.fixture.js';
import { FakeControlServer } from './control-server.fixture.js';

/** The beginning of a resource's file. */
export const head = (kind: string, name: string) =>
  `apiVersion: twinyard/v1\nkind: ${kind}\nmetadata: {name: ${name}}\n`;
export const endpoint = (more = '', name = 'chat') =>
  `${head('Endpoint', name)}spec:\n  engine: {name: emulator}\n  model: {name: qwen/qwen3-14b}\n${more}`;
export const REF = { kind: 'Endpoint', workspace: 'default', name: 'chat' };

/** The one of the present test. */
export let server: FakeControlServer;

/** Runs each test of a file in its own folder, with the files of two endpoints and a server that commands find. */
export function inControlYard(): void {
  inTestFolder(() => {
    writeFileSync('chat.yaml', endpoint('  replicas: 3\n'));
    writeFileSync('five.yaml', endpoint('  replicas: 5\n'));
  });
  beforeEach(async () => {
    server = await FakeControlServer.start('.');
  });
  afterEach(() => server.close());
}

/** What a command prints that succeeds. */
export async function printed(args: string): Promise<string> {
  const ended = await twinyard(args);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return ended.stdout;
}

/** A command that keeps running: its output, and how it is stopped. */
export function started(args: string, terminal: Terminal = {}) {
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const io = testIo({ ...terminal, stopped });
  const ended = main(args.split(' '), io);
  const until = async (what: string | RegExp) => {
    const isThere = () => (typeof what === 'string' ? io.stdoutText().includes(what) : what.test(io.stdoutText()));
    while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const untilError = async (what: string) => {
    while (!io.stderrText().includes(what)) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { io, ended, until, untilError, stop };
}

/** Resolves when so many streams are open. */
export const streaming = async (count: number) => {
  while (server.streams !== count) await new Promise((resolve) => setTimeout(resolve, 5));
};
