import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { captured as twinyard } from '../test-io.fixture.js';
import { endpoint, head, inControlYard, printed, server, started, streaming } from './control-yard.fixture.js';

inControlYard();

describe('get', () => {
  const AGE = String.raw`\d+s`;

  it('prints tables, narrow and wide', async () => {
    await printed('apply -f chat.yaml');
    await server.say('chat', 'Degraded', { ready: 2, message: 'one has crashed' });
    expect(await printed('get endpoints')).toMatch(
      new RegExp(
        `^NAME  PHASE     READY  MODEL           ENGINE    AGE\nchat  Degraded  2/3    qwen/qwen3-14b  emulator  ${AGE}\n$`,
      ),
    );
    expect(await printed('get ep chat -o wide')).toMatch(
      /^NAME +PHASE .* MESSAGE +ADVICE +AGE +LABELS\n.* one has crashed /,
    );
    expect(await printed('get engines')).toMatch(/^NAME +VERSIONS +AGE\nemulator +v1 +/);
  });

  it('prints tables without titles for --no-headers', async () => {
    await printed('apply -f chat.yaml');
    const row = /^chat +0\/3 +qwen\/qwen3-14b +emulator +\d+s\n$/;
    expect(await printed('get ep --no-headers')).toMatch(row);
    expect((await twinyard('get ep --no-headers', { isTTY: true, columns: 40 })).stdout).toMatch(row);
    expect(await printed('get ep chat -o custom-columns=N:.metadata.name --no-headers')).toBe('chat\n');
    expect((await printed('get ws,ep --no-headers')).match(/^\S*/gm)).toEqual(['default', 'chat', '']);
    expect(await printed('get ep -o name --no-headers')).toBe('endpoint/chat\n');
  });

  it('prints documents that can be applied again', async () => {
    writeFileSync('two.yaml', `${endpoint('', 'a')}---\n${endpoint('', 'b')}`);
    await printed('apply -f two.yaml');
    const documents = await printed('get endpoints -o yaml');
    expect(parseAllDocuments(documents)).toHaveLength(2);
    writeFileSync('again.yaml', documents);
    expect(await printed('apply -f again.yaml')).toBe('Endpoint default/a unchanged\nEndpoint default/b unchanged\n');
    expect(JSON.parse(await printed('get endpoints -o json'))).toMatchObject({ kind: 'EndpointList', items: [{}, {}] });
    expect(JSON.parse(await printed('get endpoint a -o json'))).toMatchObject({ metadata: { name: 'a' } });
  });

  it('prints no more than --limit resources, and says that there are more', async () => {
    writeFileSync('three.yaml', ['a', 'b', 'c'].map((name) => endpoint('', name)).join('---\n'));
    await printed('apply -f three.yaml');
    expect(await twinyard('get ep --limit 2 -o name'.split(' '))).toMatchObject({
      ...{ code: 0, stdout: 'endpoint/a\nendpoint/b\n', stderr: 'twinyard: there are more than 2 endpoints\n' },
    });
    expect(await twinyard('get ep --limit 3 -o name'.split(' '))).toMatchObject({
      ...{ code: 0, stdout: 'endpoint/a\nendpoint/b\nendpoint/c\n', stderr: '' },
    });
    expect(await printed('get ep/b ep/a -o name')).toBe('endpoint/b\nendpoint/a\n');
    expect(await twinyard('get ep/a --limit 3'.split(' '))).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('--limit: is given together with a name') },
    });
  });

  it('selects by labels and by workspace', async () => {
    const labelled = endpoint('', 'a').replace('name: a', 'name: a, labels: {team: x}');
    writeFileSync('some.yaml', `${labelled}---\n${endpoint('', 'b')}---\n${head('Workspace', 'search')}spec: {}\n`);
    writeFileSync('there.yaml', endpoint('', 'c'));
    await printed('apply -f some.yaml');
    await printed('apply -f there.yaml -n search');
    const names = async (args: string) =>
      (await printed(`get endpoints ${args}`))
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(/ +/)[0]);
    expect(await names('')).toEqual(['a', 'b']);
    expect(await names('-l team=x')).toEqual(['a']);
    expect(await names('-n search')).toEqual(['c']);
    expect(await names('--namespace search')).toEqual(['c']);
    expect(await names('-A')).toEqual(['default', 'default', 'search']);
    expect(await names('--all-namespaces')).toEqual(['default', 'default', 'search']);
    const set = await twinyard(['get', 'ep', '-l', 'team in (x,y)', '-o', 'name']);
    expect(set.stdout).toBe('endpoint/a\n');
  });

  it('shows several by their names', async () => {
    writeFileSync('two.yaml', `${endpoint('', 'a')}---\n${endpoint('', 'b')}---\n${endpoint('', 'c')}`);
    await printed('apply -f two.yaml');
    expect((await printed('get ep c a')).match(/^\w+/gm)).toEqual(['NAME', 'c', 'a']);
    expect(parseAllDocuments(await printed('get ep c a -o yaml'))).toHaveLength(2);
    expect(JSON.parse(await printed('get ep c a -o json'))).toMatchObject({ kind: 'EndpointList', items: [{}, {}] });
  });

  it('prints those that exist before it reports those that do not', async () => {
    writeFileSync('two.yaml', `${endpoint('', 'a')}---\n${endpoint('', 'b')}`);
    await printed('apply -f two.yaml');
    const missing = (name: string) =>
      `twinyard: Endpoint default/${name}: does not exist; see 'twinyard get endpoints'\n`;
    const table = await twinyard('get ep a none b nor');
    expect(table).toMatchObject({ code: 2, stderr: `${missing('none')}${missing('nor')}` });
    expect(table.stdout.match(/^\w+/gm)).toEqual(['NAME', 'a', 'b']);
    const json = await twinyard('get ep/a ep/none ws/default -o json');
    expect(json).toMatchObject({ code: 2, stderr: missing('none') });
    expect(JSON.parse(json.stdout)).toMatchObject({
      kind: 'List',
      items: [{ kind: 'Endpoint' }, { kind: 'Workspace' }],
    });
    expect(await twinyard('get ep none nor')).toMatchObject({ code: 2, stdout: '' });
  });

  it('lists all there is, kind by kind', async () => {
    await printed('apply -f chat.yaml');
    const all = await printed('get all');
    expect(all.match(/^\w+:$/gm)).toEqual(['workspaces:', 'engines:', 'clusters:', 'endpoints:']);
    expect(all).toMatch(/^workspaces:\nNAME .*\ndefault .*\n\nengines:\n/);
    expect(all).toMatch(/\n\nendpoints:\nNAME .*\nchat .*\n$/);
    expect(JSON.parse(await printed('get all -o json'))).toMatchObject({ kind: 'List', items: { length: 9 } });
    expect(parseAllDocuments(await printed('get all -o yaml'))).toHaveLength(9);
  });

  it('lists the models of a registry, and prints some of them', async () => {
    mkdirSync('models/tiny', { recursive: true });
    mkdirSync('models/large');
    for (const name of ['tiny', 'large']) writeFileSync(`models/${name}/config.json`, '{"vocab_size": 5}');
    const shelf = `${head('ModelRegistry', 'shelf')}spec: {type: file, url: 'file://${process.cwd()}/models'}\n`;
    writeFileSync('shelf.yaml', shelf);
    await printed('apply -f shelf.yaml');
    expect((await printed('get models --registry shelf')).match(/^\w+/gm)).toEqual(['NAME', 'large', 'tiny']);
    expect(JSON.parse(await printed('get models --registry shelf --search tin -o json'))).toMatchObject([
      { name: 'tiny' },
    ]);
    expect(await printed('get models tiny --registry shelf')).toMatch(/^kind: Model\nname: tiny\n/);
    expect(JSON.parse(await printed('get models tiny --registry shelf -o json'))).toMatchObject({ name: 'tiny' });
    expect(parseAllDocuments(await printed('get model tiny large --registry shelf'))).toHaveLength(2);
    expect(await twinyard('get models --registry shelf --search none')).toEqual({
      ...{ code: 0, stdout: '', stderr: 'twinyard: shelf has no such models\n' },
    });
  });

  it('prints how many upstreams of an external endpoint are healthy', async () => {
    const spec = "{upstreams: [{name: a, url: 'https://a'}, {name: b, url: 'https://b'}]}";
    writeFileSync('away.yaml', `${head('ExternalEndpoint', 'away')}spec: ${spec}\n`);
    await printed('apply -f away.yaml');
    expect(await printed('get xep')).toMatch(/^NAME +PHASE +UPSTREAMS +AGE\naway +0\/2 /);
    const ref = { kind: 'ExternalEndpoint', workspace: 'default', name: 'away' };
    const { uid } = (await server.host.store.get(ref))!.metadata;
    await server.host.store.putStatus(ref, uid!, { phase: 'Degraded', healthy: 1 });
    expect(await printed('get xep -o wide')).toMatch(/away +Degraded +1\/2 +a,b /);
  });

  it('lists kinds with their short names in its help', async () => {
    for (const command of ['get', 'describe', 'delete', 'wait', 'events']) {
      expect(await printed(`${command} --help`)).toMatch(
        /\nKinds:\n {2}workspaces \(ws\) +A namespace .*\n[\s\S]* {2}endpoints \(ep\) +A served model/,
      );
    }
  });

  it('reports on stderr that there are none', async () => {
    expect(await twinyard('get ep')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: "twinyard: no endpoints in the workspace 'default'\n",
    });
    expect((await twinyard('get ep -A -l a=b')).stderr).toBe('twinyard: no endpoints with these labels\n');
    expect(await printed('get ep -o yaml')).toBe('');
    expect(await twinyard('get ep -n defualt')).toEqual({
      ...{
        code: 0,
        stdout: '',
        stderr: "twinyard: there is no workspace 'defualt'; did you mean 'default'? known: default\n",
      },
    });
  });

  it('prints changes with --watch, and ends with 0 when it is stopped', async () => {
    await printed('apply -f chat.yaml');
    const table = started('get endpoints --watch -l !hidden');
    const [lines, documents] = [started('get ep chat --watch -o json'), started('get ep --watch -o yaml')];
    await streaming(3);
    await server.say('chat', 'Running', { ready: 3 });
    await server.say('chat', 'Running', { ready: 3, url: 'http://127.0.0.1:1' });
    writeFileSync('hidden.yaml', endpoint('', 'x').replace('name: x', 'name: x, labels: {hidden: a}'));
    await printed('apply -f hidden.yaml');
    await printed('delete endpoint chat');
    await server.takeDown('chat');
    for (const one of [table, lines, documents]) {
      await one.until('removed');
      one.stop();
      expect(await one.ended).toBe(0);
      expect(one.io.stderrText()).toBe('');
    }
    expect(
      table.io
        .stdoutText()
        .split('\n')
        .map((line) => line.split(/ +/).slice(0, 4)),
    ).toEqual([
      ['CHANGE', 'NAME', 'PHASE', 'READY'],
      ['listed', 'chat', '0/3', 'qwen/qwen3-14b'],
      ['status', 'chat', 'Running', '3/3'],
      ['deleting', 'chat', 'Running', '3/3'],
      ['removed', 'chat', 'Running', '3/3'],
      [''],
    ]);
    const types = lines.io
      .stdoutText()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(types).toEqual(['listed', 'status', 'status', 'deleting', 'removed']);
    expect(documents.io.stdoutText().match(/^# .*/gm)).toEqual(
      ['listed', 'status', 'status', 'created', 'deleting', 'removed'].map((type) => `# ${type}`),
    );
    await streaming(0);
  });

  it('lists again what the server does not remember any more', async () => {
    await printed('apply -f chat.yaml');
    const { feed } = server.host;
    const follow = feed.follow.bind(feed);
    feed.follow = async function* () {
      feed.follow = follow;
      yield { type: 'bookmark', version: 1 };
      yield { type: 'gone', version: 1 };
    };
    const watch = started('get endpoints --watch');
    await streaming(1);
    await server.say('chat', 'Running', { ready: 3 });
    await watch.until(/status +chat/);
    watch.stop();
    expect(await watch.ended).toBe(0);
    expect(watch.io.stdoutText().match(/^\w+ +chat/gm)).toEqual(['listed    chat', 'status    chat']);
  });

  it('watches over a restart of the server, without a line twice', async () => {
    writeFileSync('other.yaml', endpoint('', 'other'));
    await printed('apply -f chat.yaml -f other.yaml');
    const watch = started('get endpoints -w');
    await streaming(1);
    await server.say('chat', 'Deploying');
    await watch.until(/status +chat/);
    await server.hangUp();
    await watch.untilError('connection lost, trying again');
    // A process that starts does not remember earlier changes.
    await server.forget();
    await server.say('chat', 'Running', { ready: 3 });
    await server.forget();
    await server.listen();
    await watch.until(/status +chat +Running/);
    await server.say('other', 'Running', { ready: 1 });
    await watch.until(/status +other/);
    watch.stop();
    expect(await watch.ended).toBe(0);
    expect(
      watch.io
        .stdoutText()
        .match(/^[a-z]+ +\w+ +[A-Z]?\w*/gm)!
        .map((line) => line.replace(/ +/g, ' ')),
    ).toEqual([
      ...['listed chat 0', 'listed other 0', 'status chat Deploying', 'status chat Running', 'status other Running'],
    ]);
    expect(watch.io.stderrText().match(/connection lost/g)).toHaveLength(1);
  });

  it.each([
    ['', 'KIND[/NAME]...|all|models: is required'],
    ['pods', "KIND: unknown kind 'pods'; known: workspaces (ws), roles, apikeys (key, keys), engines (eng), "],
    ['endpont', "did you mean 'endpoint'?"],
    ['ep none', "Endpoint default/none: does not exist; see 'twinyard get endpoints'"],
    ['ep none -n default', "Endpoint default/none: does not exist; see 'twinyard get endpoints'"],
    ['mr none -n search', "ModelRegistry search/none: does not exist; see 'twinyard get modelregistries -n search'"],
    ['ep a b --watch', '--watch: is given together with several names; give one name, or none'],
    ['ep --search x', "--search: is for models; write 'twinyard get models --registry NAME'"],
    ['ep --registry x', "--registry: is for models; write 'twinyard get models --registry NAME'"],
    ['all chat', "NAME: is given together with 'all'; name a kind, or leave it out"],
    ['all --watch', "--watch: is given together with 'all'; name a kind, or leave it out"],
    ['models', "--registry: is required for models; see 'twinyard get registries'"],
    ['models --registry none', "ModelRegistry default/none: does not exist; see 'twinyard get modelregistries'"],
    ['ep -A -n x', '--workspace: is given together with --all-workspaces; keep one of them'],
    ['ep chat -A', '--all-workspaces: is given together with a name; name its workspace with -n'],
    ['ep -l =', "--selector: '=' selects nothing"],
    ['ep --watch -l =', "--selector: '=' selects nothing"],
    ['ep -o xml', "--output: 'xml' is not an output format; give table, wide, yaml, json, name, jsonpath="],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(`get ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});
