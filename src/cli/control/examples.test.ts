import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../commands.js';
import { inTestFolder } from '../test-folder.fixture.js';
import { examplesIn, captured as twinyard } from '../test-io.fixture.js';
import { FakeControlServer } from './control-server.fixture.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples/endpoints', import.meta.url));

let server: FakeControlServer;
inTestFolder(() => {});
beforeEach(async () => {
  server = await FakeControlServer.start('.');
});
afterEach(() => server.close());

describe('examples', () => {
  it.each(readdirSync(EXAMPLES))('%s is accepted', async (name) => {
    const ended = await twinyard(['apply', '-f', join(EXAMPLES, name)]);
    expect(ended).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^(\S+ \S+ created\n)+$/) });
  });

  it('are accepted together', async () => {
    const { code, stdout } = await twinyard(['apply', '-f', EXAMPLES]);
    expect([code, stdout.split('\n').length]).toEqual([0, 7]);
  });

  it('that help gives are right', async () => {
    await twinyard(['apply', '-f', join(EXAMPLES, 'emulated.yaml'), '-f', join(EXAMPLES, 'keys.yaml')]);
    const conditions = [{ type: 'Ready', status: true, since: '2030-01-31T00:00:00Z' }];
    await server.say('chat', 'Running', { ready: 3, conditions });
    // Deleting comes last, and what asks for a store or for time has its own tests.
    const names = ['get', 'describe', 'wait', 'scale', 'logs', 'events', 'issue', 'delete'];
    for (const name of names) {
      expect(COMMANDS.map((command) => command.name)).toContain(name);
      const { stdout } = await twinyard(`${name} --help`);
      const examples = examplesIn(stdout);
      expect(examples.length).toBeGreaterThan(1);
      // No replica has ended here.
      const isRun = (one: string) => !one.includes('examples/') && !one.endsWith(' -p');
      for (const example of examples.filter(isRun)) {
        expect({ example, ...(await twinyard(example.replaceAll("'", ''))) }).toMatchObject({ example, code: 0 });
      }
    }
  });
});
