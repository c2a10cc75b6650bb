import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { captured as twinyard } from '../test-io.fixture.js';
import { endpoint, head, inControlYard, printed, REF, server, started, streaming } from './control-yard.fixture.js';

inControlYard();

describe('apply', () => {
  it('prints what was done and what differs, and changes nothing the second time', async () => {
    expect(await printed('apply -f chat.yaml')).toBe('Endpoint default/chat created\n');
    expect(await printed('apply -f chat.yaml')).toBe('Endpoint default/chat unchanged\n');
    const differs = 'Endpoint default/chat changed\n  spec.replicas: 3 -> 5\n';
    expect(await twinyard('apply -f five.yaml --dry-run')).toEqual({
      code: 0,
      stdout: differs.replace('changed', 'would be changed'),
      stderr: 'twinyard: nothing was changed\n',
    });
    expect((await twinyard('apply -f chat.yaml --dry-run')).stdout).toBe('Endpoint default/chat would be unchanged\n');
    expect((await server.host.store.get(REF))!.spec.replicas).toBe(3);
    expect(await printed('apply -f five.yaml')).toBe(differs);
  });

  it('takes folders, several files and stdin, all of it or nothing', async () => {
    mkdirSync('all');
    writeFileSync('all/b.json', JSON.stringify(parseAllDocuments(endpoint('', 'b'))[0]!.toJS()));
    writeFileSync('all/a.yml', `\ufeff# the first\n${endpoint('', 'a')}`);
    writeFileSync('all/notes.txt', 'no resource');
    const both = 'Endpoint default/a created\nEndpoint default/b created\n';
    expect((await twinyard('apply -f all --dry-run')).stdout).toBe(both.replaceAll('created', 'would be created'));
    const piped = await twinyard('apply -f all -f -', { stdin: [Buffer.from(endpoint('  replicas: 1\n', 'c'))] });
    expect(piped.stdout).toBe(`${both}Endpoint default/c created\n`);
    writeFileSync('all/c.yaml', `${endpoint('', 'd')}---\n${endpoint('  replicas: -1\n', 'e')}`);
    const refused = await twinyard('apply -f chat.yaml -f all');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^twinyard: all\/c\.yaml:14:13 \(spec\.replicas\): /);
    expect(await server.host.store.get(REF)).toBeNull();
  });

  it('reports every problem with its place', async () => {
    writeFileSync('bad.yaml', endpoint('  replicas: -1\n  placement: anywhere\n'));
    const { code, stderr } = await twinyard('apply -f chat.yaml -f bad.yaml');
    expect([code, stderr.match(/^twinyard: bad\.yaml:\d+:\d+ \(spec\.\w+\): /gm)]).toEqual([
      2,
      ['twinyard: bad.yaml:7:13 (spec.replicas): ', 'twinyard: bad.yaml:8:14 (spec.placement): '],
    ]);
  });

  it('reports missing references together with invalid fields', async () => {
    writeFileSync('bad.yaml', endpoint('  replicas: -1\n  cluster: moon\n').replace('emulator', 'emulatr'));
    expect((await twinyard('apply -f five.yaml -f bad.yaml')).stderr).toBe(
      `twinyard: bad.yaml:5:18 (spec.engine.name): there is no engine 'emulatr'; did you mean 'emulator'? known: emulator, infinity, llama-cpp, sglang, tei, vllm
twinyard: bad.yaml:7:13 (spec.replicas): -1 is too small; give a whole number from 0 to 1000
twinyard: bad.yaml:8:12 (spec.cluster): there is no cluster 'moon'; known: local
`,
    );
  });

  it('waits for the applied resources with --wait', async () => {
    writeFileSync('both.yaml', `${head('ApiKey', 'k')}spec: {}\n---\n${endpoint('  replicas: 3\n')}`);
    const waiting = started('apply -f both.yaml --wait');
    await waiting.until('created');
    await streaming(1);
    await server.say('chat', 'Deploying');
    await server.say('chat', 'Running', { ready: 3 });
    expect([await waiting.ended, waiting.io.stdoutText()]).toEqual([
      0,
      'ApiKey default/k created\nEndpoint default/chat created\nEndpoint default/chat is ready\n',
    ]);
    await server.say('chat', 'Paused');
    expect(await printed('apply -f chat.yaml --wait')).toContain('Endpoint default/chat is ready');
    await server.say('chat', 'Failed', { message: 'no such program' });
    expect(await twinyard('apply -f chat.yaml --wait --timeout 5')).toEqual({
      code: 1,
      stdout: 'Endpoint default/chat unchanged\n',
      stderr: 'twinyard: Endpoint default/chat: has failed: no such program\n',
    });
    await server.say('chat', 'Pending', { message: 'no room' });
    expect(await twinyard('apply -f chat.yaml --wait --timeout 0')).toMatchObject({
      code: 1,
      stderr: 'twinyard: Endpoint default/chat: not ready in time; it is Pending: no room\n',
    });
  });

  it('sets the workspace of resources that name none', async () => {
    writeFileSync('search.yaml', `${head('Workspace', 'search')}spec: {}\n`);
    await printed('apply -f search.yaml');
    expect(await printed('apply -f chat.yaml -n search')).toBe('Endpoint search/chat created\n');
  });

  it('reports a conflicting change', async () => {
    await printed('apply -f chat.yaml');
    writeFileSync('mine.yaml', (await printed('get ep chat -o yaml')).replace('replicas: 3', 'replicas: 7'));
    await printed('apply -f five.yaml');
    expect(await twinyard('apply -f mine.yaml')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^twinyard: Endpoint default\/chat: has been changed since version \d+ by admin: spec\.replicas was 3, is 5; it is at version \d+ now; get it again and apply the change to that\n$/,
      ),
    });
  });

  it.each([
    ['', '--file: is required; give a file, a folder, or - for stdin'],
    ['-f none.yaml', "--file: 'none.yaml' no such file; give the path of a readable file"],
    ['-f empty', 'empty: holds no .yaml, .yml or .json file; give another folder, or a file'],
    ['-f torn.yaml', 'torn.yaml:1:16: Flow map'],
    ['-f nothing.yaml', "nothing.yaml: holds no resource; begin with 'apiVersion: twinyard/v1'"],
    ['-f chat.yaml -f twice.yaml', 'twice.yaml:3:18 (metadata.name): Endpoint default/chat is described twice'],
    ['-f chat.yaml --wait --dry-run', '--wait: is given together with --dry-run; keep one of them'],
    ['-f chat.yaml -n nowhere', "chat.yaml:3:1 (metadata.workspace): there is no workspace 'nowhere'"],
  ])('%s is refused', async (args, message) => {
    mkdirSync('empty');
    writeFileSync('torn.yaml', 'kind: {Endpoint\n');
    writeFileSync('nothing.yaml', '# nothing\n');
    writeFileSync('twice.yaml', endpoint());
    const ended = await twinyard(`apply ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(`twinyard: ${message}`);
  });
});
