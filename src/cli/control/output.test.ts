import { writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { captured as twinyard } from '../test-io.fixture.js';
import { endpoint, inControlYard, printed, server } from './control-yard.fixture.js';

inControlYard();
beforeEach(async () => {
  writeFileSync('two.yaml', `${endpoint()}---\n${endpoint('', 'web')}`);
  await printed('apply -f two.yaml');
});

describe('get', () => {
  it('takes KIND/NAME and several kinds wherever it takes a kind and names', async () => {
    expect(await printed('get ep/chat -o name')).toBe('endpoint/chat\n');
    expect(await printed('get ep/chat endpoints/web -o name')).toBe('endpoint/chat\nendpoint/web\n');
    expect(await printed('get ep,ws -o name')).toBe('endpoint/chat\nendpoint/web\nworkspace/default\n');
    expect(await printed('get ep/chat ws/default')).toMatch(/^endpoints:\nNAME .*\nchat .*\n\nworkspaces:\nNAME/);
    expect(JSON.parse(await printed('get ep,ws -o json')).items).toHaveLength(3);
    for (const args of ['describe ep/chat', 'events ep/chat', 'wait ep/web --for phase=Running --timeout 0']) {
      expect((await twinyard(args)).stderr).not.toContain('KIND');
    }
    expect(await printed('delete ep/chat ep/web')).toBe(
      'Endpoint default/chat deleting\nEndpoint default/web deleting\n',
    );
  });

  it('prints names that other commands accept', async () => {
    const names = (await printed('get ep -o name')).trim().split('\n');
    expect((await twinyard(['delete', ...names])).code).toBe(0);
  });

  it('prints the values of paths', async () => {
    await server.say('chat', 'Running', { ready: 1 });
    expect(await printed('get ep/chat -o jsonpath={.status.phase}')).toBe('Running\n');
    expect(await printed('get ep -o jsonpath={.items[*].metadata.name}')).toBe('chat web\n');
    const { stdout } = await twinyard(['get', 'ep', '-o', 'jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}']);
    expect(stdout).toBe('chat\nweb\n');
    expect(await printed('get ep,ws -o jsonpath={.items[*].kind}')).toBe('Endpoint Endpoint Workspace\n');
  });

  it('prints columns by path', async () => {
    await server.say('chat', 'Running', { ready: 1 });
    expect(await printed('get ep -o custom-columns=NAME:.metadata.name,PHASE:.status.phase')).toBe(
      'NAME  PHASE\nchat  Running\nweb   <none>\n',
    );
  });

  it('does not let values control a terminal', async () => {
    await server.say('chat', 'Failed', { message: 'a\u001b[2Jb' });
    const { stdout } = await twinyard('get ep/chat -o jsonpath={.status.message}', { isTTY: true });
    expect(stdout).toBe('a?[2Jb\n');
  });

  it.each([
    ['ep/chat web', "'web': does not name a resource; write KIND NAME..., or KIND/NAME for each"],
    ['ep/', "'ep/': does not name a resource"],
    ['ep/a/b', "'ep/a/b': does not name a resource"],
    ['ep,ws chat', "'ep,ws': does not name a resource"],
    ['pods/x', "unknown kind 'pods'"],
    ['ep,ws --watch', '--watch: is given together with several kinds; give one kind'],
    ['ep/chat ep/web --watch', '--watch: is given together with several names'],
    ['ep -o jsonpath={.a', "--output: the path '{.a' has a '{' without its pair"],
    ['ep -o custom-columns=NAME', "--output: 'NAME' is not a column; write TITLE:PATH"],
    ['ep -o jsonpath', "--output: 'jsonpath' is not an output format"],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(`get ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});
