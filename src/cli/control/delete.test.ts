import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { captured as twinyard } from '../test-io.fixture.js';
import { endpoint, head, inControlYard, printed, server, started, streaming } from './control-yard.fixture.js';

inControlYard();

describe('delete', () => {
  it('deletes, and waits for the removal with --wait', async () => {
    await printed('apply -f chat.yaml');
    expect(await printed('delete endpoint chat')).toBe('Endpoint default/chat deleting\n');
    const waiting = started('delete endpoint chat --wait');
    await streaming(1);
    await server.takeDown('chat');
    expect(await waiting.ended).toBe(0);
    expect(waiting.io.stdoutText()).toBe('Endpoint default/chat deleted\n');
  });

  it('takes several names', async () => {
    writeFileSync('two.yaml', `${endpoint('', 'a')}---\n${endpoint('', 'b')}`);
    await printed('apply -f two.yaml');
    expect(await printed('delete endpoint a b')).toBe('Endpoint default/a deleting\nEndpoint default/b deleting\n');
  });

  it('takes those that labels or --all select, and ignores missing ones where that is said', async () => {
    const labelled = endpoint('', 'a').replace('name: a', 'name: a, labels: {team: x}');
    writeFileSync('some.yaml', [labelled, endpoint('', 'b'), endpoint('', 'c')].join('---\n'));
    await printed('apply -f some.yaml');
    expect(await printed('delete ep -l team=x')).toBe('Endpoint default/a deleting\n');
    await server.takeDown('a');
    expect(await printed('delete ep --all')).toBe('Endpoint default/b deleting\nEndpoint default/c deleting\n');
    expect(await printed('delete ep none --ignore-not-found')).toBe('Endpoint default/none does not exist\n');
    expect(await twinyard('delete ep -l team=y')).toEqual({
      ...{ code: 0, stdout: '', stderr: 'twinyard: no resources were selected\n' },
    });
  });

  it('deletes the resources of files, dependent ones first, and ignores missing ones', async () => {
    const role = `${head('Role', 'r')}spec: {role: viewer, api_keys: [k]}\n`;
    writeFileSync('all.yaml', `${head('ApiKey', 'k')}spec: {}\n---\n${role}---\n${endpoint()}`);
    await printed('apply -f all.yaml');
    const waiting = started('delete -f all.yaml --wait');
    const order = ['Role default/r', 'ApiKey default/k', 'Endpoint default/chat'];
    for (const [i, shown] of order.entries()) {
      const [kind, name] = shown.split(/ default\//) as [string, string];
      // A key is gone at once.
      const before = order.slice(0, i).map((one) => `${one} deleted\n`);
      if (kind !== 'ApiKey') expect(waiting.io.stdoutText()).toBe(before.join(''));
      if (kind !== 'ApiKey') await server.takeDown(name, kind);
      await waiting.until(`${shown} deleted\n`);
    }
    expect(await waiting.ended).toBe(0);
    await printed('apply -f all.yaml');
    await printed('delete role r');
    await server.takeDown('r', 'Role');
    expect(await printed('delete -f all.yaml')).toBe(
      'Role default/r does not exist\nApiKey default/k deleting\nEndpoint default/chat deleting\n',
    );
  });

  it.each([
    ['', 'KIND/NAME: or --file is required, and not both'],
    ['endpoint', 'KIND/NAME...: is required'],
    ['cluster local', "Cluster local: is built in; leave it, or change it with 'twinyard apply'"],
    ['workspace default', 'Workspace default: is built in'],
    ['engine vllm', 'Engine vllm: is built in'],
    ['endpoint chat -f chat.yaml', 'KIND/NAME: or --file is required, and not both'],
    ['endpoint chat --all', '--all: is given together with a name; keep one of them'],
    ['-f chat.yaml -l a=b', '--selector: is given together with --file'],
    ['endpoint none', 'Endpoint default/none: does not exist'],
    ['-f bad.yaml', 'bad.yaml:7:13 (spec.replicas): '],
    ['registry shelf', 'ModelRegistry default/shelf: is used by Endpoint default/chat; delete or change them first'],
  ])('%s is refused', async (args, message) => {
    const shelf = `${head('ModelRegistry', 'shelf')}spec: {type: file, url: 'file:///models'}\n`;
    writeFileSync('used.yaml', `${shelf}---\n${endpoint().replace('{name: qwen', '{registry: shelf, name: qwen')}`);
    await printed('apply -f used.yaml');
    writeFileSync('bad.yaml', endpoint('  replicas: -1\n'));
    const ended = await twinyard(`delete ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(`twinyard: ${message}`);
  });
});
