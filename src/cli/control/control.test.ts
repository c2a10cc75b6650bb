import { mkdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { main } from '../program.js';
import { inTestFolder } from '../test-folder.contract.js';
import { testIo, captured as twinyard } from '../test-io.contract.js';
import { NOBODY_TOKEN, ToyControlServer, VIEWER_TOKEN } from './control-server.contract.js';

const head = (kind: string, name: string) => `apiVersion: twinyard/v1\nkind: ${kind}\nmetadata: {name: ${name}}\n`;
const endpoint = (more = '', name = 'chat') =>
  `${head('Endpoint', name)}spec:\n  engine: {name: emulator}\n  model: {name: qwen/qwen3-14b}\n${more}`;
const REF = { kind: 'Endpoint', workspace: 'default', name: 'chat' };

let server: ToyControlServer;
inTestFolder(() => {
  writeFileSync('chat.yaml', endpoint('  replicas: 3\n'));
  writeFileSync('five.yaml', endpoint('  replicas: 5\n'));
});
beforeEach(async () => {
  server = await ToyControlServer.start('.');
});
afterEach(() => server.close());

/** What a command prints that succeeds. */
async function printed(args: string): Promise<string> {
  const ended = await twinyard(args);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return ended.stdout;
}

/** A command that goes on: what it has printed, and how it is stopped. */
function started(args: string) {
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const io = testIo({ stopped });
  const ended = main(args.split(' '), io);
  const until = async (what: string | RegExp) => {
    const isThere = () => (typeof what === 'string' ? io.stdoutText().includes(what) : what.test(io.stdoutText()));
    while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { io, ended, until, stop };
}

const streaming = async (count: number) => {
  while (server.streams !== count) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('apply', () => {
  it('says what was done and what differs, and does nothing the second time', async () => {
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

  it('tells everything that is wrong, each with its place', async () => {
    writeFileSync('bad.yaml', endpoint('  replicas: -1\n  placement: anywhere\n'));
    const { code, stderr } = await twinyard('apply -f chat.yaml -f bad.yaml');
    expect([code, stderr.match(/^twinyard: bad\.yaml:\d+:\d+ \(spec\.\w+\): /gm)]).toEqual([
      2,
      ['twinyard: bad.yaml:7:13 (spec.replicas): ', 'twinyard: bad.yaml:8:14 (spec.placement): '],
    ]);
  });

  it('tells what is not there together with what is wrong', async () => {
    writeFileSync('bad.yaml', endpoint('  replicas: -1\n  cluster: moon\n').replace('emulator', 'emulatr'));
    expect((await twinyard('apply -f five.yaml -f bad.yaml')).stderr).toBe(
      `twinyard: bad.yaml:5:18 (spec.engine.name): there is no engine 'emulatr'; did you mean 'emulator'? known: emulator, llama-cpp, sglang, vllm
twinyard: bad.yaml:7:13 (spec.replicas): -1 is not accepted; give at least 0
twinyard: bad.yaml:8:12 (spec.cluster): there is no cluster 'moon'; known: local
`,
    );
  });

  it('waits for what was applied, if told to', async () => {
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

  it('names the workspace of those that name none', async () => {
    writeFileSync('search.yaml', `${head('Workspace', 'search')}spec: {}\n`);
    await printed('apply -f search.yaml');
    expect(await printed('apply -f chat.yaml -w search')).toBe('Endpoint search/chat created\n');
  });

  it('tells what somebody else has changed', async () => {
    await printed('apply -f chat.yaml');
    writeFileSync('mine.yaml', (await printed('get ep chat -o yaml')).replace('replicas: 3', 'replicas: 7'));
    await printed('apply -f five.yaml');
    expect(await twinyard('apply -f mine.yaml')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^twinyard: Endpoint default\/chat: has been changed since version \d+ by admin: spec\.replicas was 3, is 5; it is at version \d+ now; get it again, and make your change to that\n$/,
      ),
    });
  });

  it.each([
    ['', '--file: is required; say what to apply: a file, a folder, or -'],
    ['-f none.yaml', "--file: 'none.yaml' no such file; give the path of a readable file"],
    ['-f empty', 'empty: holds no .yaml, .yml or .json file; give another folder, or a file'],
    ['-f torn.yaml', 'torn.yaml:1:16: Flow map'],
    ['-f nothing.yaml', "nothing.yaml: holds no resource; begin with 'apiVersion: twinyard/v1'"],
    ['-f chat.yaml -f twice.yaml', 'twice.yaml:3:18 (metadata.name): Endpoint default/chat is described twice'],
    ['-f chat.yaml --wait --dry-run', '--wait: is given together with --dry-run; keep one of them'],
    ['-f chat.yaml -w nowhere', "chat.yaml:3:1 (metadata.workspace): there is no workspace 'nowhere'"],
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
    expect(await printed('get ep chat -o wide')).toMatch(/^NAME +PHASE .* MESSAGE +AGE +LABELS\n.* one has crashed /);
    expect(await printed('get engines')).toMatch(/^NAME +VERSIONS +AGE\nemulator +v1 +/);
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

  it('selects by labels and by workspace', async () => {
    const labelled = endpoint('', 'a').replace('name: a', 'name: a, labels: {team: x}');
    writeFileSync('some.yaml', `${labelled}---\n${endpoint('', 'b')}---\n${head('Workspace', 'search')}spec: {}\n`);
    writeFileSync('there.yaml', endpoint('', 'c'));
    await printed('apply -f some.yaml');
    await printed('apply -f there.yaml -w search');
    const names = async (args: string) =>
      (await printed(`get endpoints ${args}`))
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(/ +/)[0]);
    expect(await names('')).toEqual(['a', 'b']);
    expect(await names('-l team=x')).toEqual(['a']);
    expect(await names('-w search')).toEqual(['c']);
    expect(await names('-A')).toEqual(['default', 'default', 'search']);
  });

  it('shows several by their names', async () => {
    writeFileSync('two.yaml', `${endpoint('', 'a')}---\n${endpoint('', 'b')}---\n${endpoint('', 'c')}`);
    await printed('apply -f two.yaml');
    expect((await printed('get ep c a')).match(/^\w+/gm)).toEqual(['NAME', 'c', 'a']);
    expect(parseAllDocuments(await printed('get ep c a -o yaml'))).toHaveLength(2);
    expect(JSON.parse(await printed('get ep c a -o json'))).toMatchObject({ kind: 'EndpointList', items: [{}, {}] });
    expect((await twinyard('get ep a none')).stderr).toContain('Endpoint default/none: does not exist');
  });

  it('lists all there is, kind by kind', async () => {
    await printed('apply -f chat.yaml');
    const all = await printed('get all');
    expect(all.match(/^\w+:$/gm)).toEqual(['workspaces:', 'engines:', 'clusters:', 'endpoints:']);
    expect(all).toMatch(/^workspaces:\nNAME .*\ndefault .*\n\nengines:\n/);
    expect(all).toMatch(/\n\nendpoints:\nNAME .*\nchat .*\n$/);
    expect(JSON.parse(await printed('get all -o json'))).toMatchObject({ kind: 'List', items: { length: 7 } });
    expect(parseAllDocuments(await printed('get all -o yaml'))).toHaveLength(7);
  });

  it('lists the models of a registry, and tells what they are', async () => {
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
      ...{ code: 0, stdout: '', stderr: 'twinyard: shelf lists no such models\n' },
    });
  });

  it('tells of APIs of others how many are well', async () => {
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
        /\nKinds:\n {2}workspaces \(ws\) +A group .*\n[\s\S]* {2}endpoints \(ep\) +A served model/,
      );
    }
  });

  it('says so when there are none', async () => {
    expect(await twinyard('get ep')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: "twinyard: there are no endpoints in the workspace 'default'\n",
    });
    expect((await twinyard('get ep -A -l a=b')).stderr).toBe('twinyard: there are no endpoints with these labels\n');
    expect(await printed('get ep -o yaml')).toBe('');
  });

  it('goes on with what changes, and ends in peace when it is stopped', async () => {
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
    await watch.until(/(listed +chat.*\n[\s\S]*){2}/);
    watch.stop();
    expect(await watch.ended).toBe(0);
  });

  it('tells when the server leaves', async () => {
    const watch = started('get endpoints --watch');
    await streaming(1);
    server.host.feed.close();
    expect(await watch.ended).toBe(1);
    expect(watch.io.stderrText()).toContain(`twinyard: ${server.url}: ended what it was telling`);
  });

  it.each([
    ['', 'KIND|all|models [NAME...]: is required'],
    ['pods', "KIND: unknown kind 'pods'; known: workspaces (ws), roles, apikeys (key, keys), engines (eng), "],
    ['endpont', "did you mean 'endpoint'?"],
    ['ep none', "Endpoint default/none: does not exist; see 'twinyard get endpoints'"],
    ['ep none -w default', "Endpoint default/none: does not exist; see 'twinyard get endpoints'"],
    ['mr none -w search', "ModelRegistry search/none: does not exist; see 'twinyard get modelregistries -w search'"],
    ['ep a b --watch', '--watch: is given together with several names; give one name, or none'],
    ['ep --search x', "--search: is for models; write 'twinyard get models --registry NAME'"],
    ['ep --registry x', "--registry: is for models; write 'twinyard get models --registry NAME'"],
    ['all chat', "NAME: is given together with 'all'; name a kind, or leave it out"],
    ['all --watch', "--watch: is given together with 'all'; name a kind, or leave it out"],
    ['models', "--registry: is required for models; see 'twinyard get registries'"],
    ['models --registry none', "ModelRegistry default/none: does not exist; see 'twinyard get modelregistries'"],
    ['ep -A -w x', '--workspace: is given together with --all-workspaces; keep one of them'],
    ['ep chat -A', '--all-workspaces: is given together with a name; say which workspace it is in'],
    ['ep -l =', "--selector: '=' selects nothing"],
    ['ep --watch -l =', "--selector: '=' selects nothing"],
    ['ep -o xml', "--output: 'xml' is not known here"],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(`get ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});

describe('describe', () => {
  it('tells all of it on a page', async () => {
    await printed('apply -f chat.yaml');
    const since = '2026-01-31T18:00:00.000Z';
    await server.say('chat', 'Failed', {
      ready: 0,
      message: 'a replica has crashed',
      conditions: [{ type: 'Ready', status: false, reason: 'Crashed', message: 'exit code 1', since }],
      replicas: [{ id: 'chat-1', phase: 'exited', generation: 1, url: 'http://127.0.0.1:2', restarts: 4, message: '' }],
      last_lines: ['no such model', 'bye\u001b[2J'],
    });
    const record = (await server.host.store.resources.get(REF))!;
    await server.host.store.events.add(record, 'warning', 'Crashed', 'exit code 1\nbye');
    const page = await printed('describe endpoint chat');
    expect(page.replace(/\d+s ago/, '0s ago').replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?! {2}Crashed)/g, 'T')).toBe(
      `Kind:        Endpoint
Name:        chat
Workspace:   default
Labels:      none
Created:     T UTC, 0s ago
Generation:  1, seen 1
Version:     ${record.resourceVersion}
Phase:       Failed
Message:     a replica has crashed

Spec:
  cluster: local
  engine:
    name: emulator
  model:
    name: qwen/qwen3-14b
    task: text-generation
  resources:
    gpus: 0
  replicas: 3
  placement: pack
  variables: {}
  env: {}
  secret_env: {}
  deployment:
    startup_timeout_s: 1800
    drain_timeout_s: 30
    max_surge: 1
    max_unavailable: 0

Status:
  ready: 0

Conditions:
  TYPE   HOLDS  SINCE                REASON   MESSAGE
  Ready  no     2026-01-31 18:00:00  Crashed  exit code 1

Replicas:
  ID      PHASE   GENERATION  RESTARTS  URL                 MESSAGE
  chat-1  exited  1           4         http://127.0.0.1:2

Last lines:
  no such model
  bye?[2J

Events:
  LAST SEEN            TYPE     REASON   COUNT  MESSAGE
  T  warning  Crashed  1      exit code 1 | bye
`,
    );
  });

  it('shows memory as people speak of it', async () => {
    const ref = { kind: 'Cluster', workspace: '', name: 'local' };
    const { uid } = (await server.host.store.get(ref))!.metadata;
    const gpu = { id: '0', product: 'H100', memory_mib: 81_920, free: 1 };
    const memory = { memory_bytes: 16.5 * 2 ** 30, free_memory_bytes: 2 ** 30 };
    await server.host.store.putStatus(ref, uid!, { phase: 'Ready', ...memory, accelerators: [gpu] });
    const page = await printed('describe cluster local');
    expect(page).toContain('  memory: 16.5 GiB\n  free_memory: 1.0 GiB\n');
    expect(page).toContain('      memory: 80.0 GiB\n');
  });

  it('tells what is known of one that is new, and of one that is going', async () => {
    await printed('apply -f chat.yaml');
    expect(await printed('describe ep chat')).toMatch(
      /^Generation: +1\n.*\nPhase: +not known yet\n\nSpec:\n[\s\S]*\nEvents:\n {2}none\n$/m,
    );
    await printed('delete ep chat');
    expect(await printed('describe ep chat')).toMatch(/^Deleted: +\d{4}-.* UTC, \d+s ago$/m);
    expect(await printed('describe engine emulator')).toMatch(/^Labels: +twinyard\/built-in=true$/m);
    expect((await twinyard('describe ep none')).code).toBe(2);
  });
});

describe('wait', () => {
  beforeEach(() => printed('apply -f chat.yaml'));

  it.each([
    ['ready', 'ready'],
    ['phase=Running', 'Running'],
    ['phase=running', 'Running'],
  ])('for %s', async (wish, said) => {
    await server.say('chat', 'Pending');
    const waiting = started(`wait endpoint chat --for ${wish}`);
    await streaming(1);
    await server.say('chat', 'Running', { ready: 3 });
    expect(await waiting.ended).toBe(0);
    expect(waiting.io.stdoutText()).toBe(`Endpoint default/chat is ${said}\n`);
  });

  it('for an end, which may have come already', async () => {
    const waiting = started('wait endpoint chat --for deleted');
    await streaming(1);
    await printed('delete endpoint chat');
    await server.takeDown('chat');
    expect(await waiting.ended).toBe(0);
    expect(await printed('wait endpoint chat --for deleted')).toBe('Endpoint default/chat is gone\n');
  });

  it('is not content with what was said of an older edition', async () => {
    await server.say('chat', 'Running', { ready: 3 });
    expect(await printed('wait endpoint chat --for ready --timeout 0')).toBe('Endpoint default/chat is ready\n');
    await printed('apply -f five.yaml');
    expect(await twinyard('wait endpoint chat --for ready --timeout 0')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'twinyard: Endpoint default/chat: not ready in time; it is Running\n',
    });
  });

  it('says how things are when the time is over', async () => {
    expect((await twinyard('wait ep chat --for ready --timeout 0')).stderr).toContain('nothing is known of it yet');
    await server.say('chat', 'Pending', { message: 'no room' });
    expect(await twinyard('wait ep chat --for phase=Running --timeout 1')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'twinyard: Endpoint default/chat: not Running in time; it is Pending: no room\n',
    });
  });

  it('ends when it has failed, unless that is what is waited for', async () => {
    await server.say('chat', 'Pending');
    const waiting = started('wait endpoint chat --for ready');
    await streaming(1);
    await server.say('chat', 'Failed', { message: 'exited with code 1' });
    expect(await waiting.ended).toBe(1);
    expect(waiting.io.stderrText()).toBe('twinyard: Endpoint default/chat: has failed: exited with code 1\n');
    expect(await printed('wait ep chat --for phase=Failed')).toBe('Endpoint default/chat is Failed\n');
    // What was said of an older edition does not count.
    await printed('apply -f five.yaml');
    expect((await twinyard('wait ep chat --for ready --timeout 0')).stderr).toContain(
      'not ready in time; it is Failed',
    );
  });

  it('outlives a server that is started again', async () => {
    const waiting = started('wait endpoint chat --for ready');
    await streaming(1);
    await server.hangUp();
    await server.say('chat', 'Running', { ready: 3 });
    await server.listen();
    expect(await waiting.ended).toBe(0);
  });

  it('ends when there is nothing left to wait for', async () => {
    const gone = started('wait endpoint chat --for ready');
    await streaming(1);
    await printed('delete endpoint chat');
    await server.takeDown('chat');
    expect(await gone.ended).toBe(1);
    expect(gone.io.stderrText()).toBe('twinyard: Endpoint default/chat: was deleted meanwhile\n');
  });

  it.each([
    ['endpoint chat', '--for: is required'],
    ['endpoint', 'KIND NAME: is required'],
    ['endpoint none --for ready', "Endpoint default/none: does not exist; see 'twinyard get endpoints'"],
    ['endpoint chat --for Running', "--for: 'Running' cannot be waited for; give 'ready', 'deleted', or a phase"],
    ['endpoint chat --for phase=Runing', "did you mean 'Running'?"],
    [
      'endpoint chat --for ready --timeout soon',
      "--timeout: 'soon' is not a span of time; give seconds, or a span as in '20s' or '5m'",
    ],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(`wait ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});

describe('delete', () => {
  it('asks for it, and waits for the end if told to', async () => {
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

  it('takes files: those that need others first, and those that are gone do not matter', async () => {
    const role = `${head('Role', 'r')}spec: {role: viewer, api_keys: [k]}\n`;
    writeFileSync('all.yaml', `${head('ApiKey', 'k')}spec: {}\n---\n${role}---\n${endpoint()}`);
    await printed('apply -f all.yaml');
    const waiting = started('delete -f all.yaml --wait');
    const order = ['Role default/r', 'ApiKey default/k', 'Endpoint default/chat'];
    for (const [i, shown] of order.entries()) {
      expect(waiting.io.stdoutText()).toBe(
        order
          .slice(0, i)
          .map((one) => `${one} deleted\n`)
          .join(''),
      );
      const [kind, name] = shown.split(/ default\//) as [string, string];
      await server.takeDown(name, kind);
      await waiting.until(`${shown} deleted\n`);
    }
    expect(await waiting.ended).toBe(0);
    await printed('apply -f all.yaml');
    await printed('delete role r');
    await server.takeDown('r', 'Role');
    expect(await printed('delete -f all.yaml')).toBe(
      'Role default/r is not there\nApiKey default/k deleting\nEndpoint default/chat deleting\n',
    );
  });

  it.each([
    ['', 'KIND NAME: or --file is required, and not both'],
    ['endpoint', 'KIND NAME: or --file is required, and not both'],
    ['cluster local', "Cluster local: is built in; leave it, or change it with 'twinyard apply'"],
    ['workspace default', 'Workspace default: is built in'],
    ['engine vllm', 'Engine vllm: is built in'],
    ['endpoint chat -f chat.yaml', 'KIND NAME: or --file is required, and not both'],
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

describe('scale', () => {
  it('changes the number, and says so', async () => {
    await printed('apply -f chat.yaml');
    expect(await printed('scale endpoint chat --replicas 5')).toBe(
      'Endpoint default/chat changed\n  spec.replicas: 3 -> 5\n',
    );
    expect(await printed('scale endpoint chat --replicas 5')).toBe('Endpoint default/chat unchanged\n');
    expect((await server.host.store.get(REF))!.spec.replicas).toBe(5);
  });

  it.each([
    ['endpoint chat', '--replicas: is required'],
    ['engine emulator --replicas 1', "KIND: 'engine' has no replicas; give 'endpoint'"],
    ['endpoint none --replicas 1', 'Endpoint default/none: does not exist'],
    ['endpoint chat --replicas 1001', "--replicas: '1001' is too large"],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(`scale ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});

describe('logs', () => {
  beforeEach(async () => {
    await printed('apply -f chat.yaml');
    server.runner.start('chat-a', 'default/chat', 'one', '\u001b[32mtwo\u001b[0m\u0007\tx');
    server.runner.start('chat-b', 'default/chat', 'three');
  });

  it('prints who wrote what, and nothing that steers the terminal', async () => {
    expect(await printed('logs endpoint chat')).toBe('[chat-a] one\n[chat-a] two?\tx\n[chat-b] three\n');
    expect(await printed('logs endpoint chat --replica chat-a --lines 1')).toBe('two?\tx\n');
  });

  it('goes on with what they write', async () => {
    const following = started('logs endpoint chat --follow --lines 0');
    await streaming(1);
    server.runner.write('chat-b', 'four');
    await following.until('[chat-b] four\n');
    following.stop();
    expect([await following.ended, following.io.stderrText()]).toEqual([0, '']);
    await streaming(0);
  });

  it('tells when the server leaves', async () => {
    const following = started('logs endpoint chat --follow --lines 1');
    await following.until('three');
    await server.hangUp();
    expect(await following.ended).toBe(1);
    expect(following.io.stderrText()).toContain(server.url);
    await server.listen();
  });

  it.each([
    ['endpoint chat --replica x', "--replica: there is no replica 'x' of it; known: chat-a, chat-b"],
    ['engine emulator', "KIND: 'engine' has no replicas"],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(`logs ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});

describe('events', () => {
  const happen = async (reason: string, kind = 'Endpoint', name = 'chat') => {
    const ref = { kind, workspace: kind === 'Engine' ? '' : 'default', name };
    const record = (await server.host.store.resources.get(ref))!;
    await server.host.store.events.add(record, 'normal', reason, 'm');
  };
  const reasons = (text: string) =>
    text
      .split('\n')
      .slice(1, -1)
      .map((line) => line.split(/ {2,}/)[3]);

  beforeEach(() => printed('apply -f chat.yaml'));

  it('tells what happened, the oldest first', async () => {
    expect((await twinyard('events')).stderr).toBe('twinyard: nothing has happened, or it is forgotten\n');
    for (const reason of ['Created', 'Started']) await happen(reason);
    await happen('Installed', 'Engine', 'emulator');
    expect(await printed('events')).toMatch(
      /^LAST SEEN +TYPE +RESOURCE +REASON +COUNT +MESSAGE\n\d{4}-.* normal +Endpoint default\/chat +Created +1 +m\n/,
    );
    expect(reasons(await printed('events'))).toEqual(['Created', 'Started']);
    expect(reasons(await printed('events -A'))).toEqual(['Created', 'Started', 'Installed']);
    expect(reasons(await printed('events endpoint chat --limit 1'))).toEqual(['Started']);
    expect(reasons(await printed('events engine'))).toEqual(['Installed']);
    expect(JSON.parse(await printed('events engine -o json'))).toMatchObject([{ reason: 'Installed' }]);
  });

  it('does not tell what happened to another of the same name, unless told to', async () => {
    await happen('Before');
    await printed('delete endpoint chat');
    await server.takeDown('chat');
    await printed('apply -f chat.yaml');
    await happen('After');
    expect(reasons(await printed('events endpoint chat'))).toEqual(['After']);
    expect(await printed('describe endpoint chat')).not.toContain('Before');
    expect(reasons(await printed('events endpoint chat --former'))).toEqual(['Before', 'After']);
  });

  it('goes on with what happens', async () => {
    await happen('Created');
    const [table, lines] = [started('events --watch'), started('events endpoint chat --watch -o json')];
    await streaming(2);
    await happen('Started');
    for (const one of [table, lines]) {
      await one.until('Started');
      one.stop();
      expect([await one.ended, one.io.stderrText()]).toEqual([0, '']);
    }
    expect(reasons(table.io.stdoutText())).toEqual(['Created', 'Started']);
    expect(
      lines.io
        .stdoutText()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).reason),
    ).toEqual([...['Created', 'Started']]);
    const lost = started('events --watch');
    await streaming(1);
    await server.hangUp();
    expect(await lost.ended).toBe(1);
    await server.listen();
  });

  it('tells who changed what', async () => {
    await printed('scale endpoint chat --replicas 5');
    await printed('delete endpoint chat');
    expect((await printed('events endpoint chat --audit')).replace(/^[\d-]+ [\d:]+/gm, 'T')).toBe(
      `T  admin  create  Endpoint default/chat
T  admin  update  Endpoint default/chat
  spec.replicas: 3 -> 5
T  admin  delete  Endpoint default/chat
`,
    );
    expect(JSON.parse(await printed('events --audit --limit 1 -o json'))).toMatchObject([{ action: 'delete' }]);
    expect(await printed('events --audit --actor control-plane -w default')).toBe('');
    expect(await printed('events engine --audit')).toContain('control-plane  create  Engine vllm');
    const spied = await twinyard(`events --audit --token ${VIEWER_TOKEN}`);
    expect(spied).toMatchObject({ code: 2, stderr: expect.stringContaining('this takes the role admin everywhere') });
  });

  it.each([
    ['--audit --watch', '--watch: is given together with --audit'],
    ['--actor x', '--actor: is given without --audit'],
    ['-A -w x', '--workspace: is given together with --all-workspaces'],
    ['--former', '--former: is given without a name'],
    ['endpoint none', "Endpoint default/none: does not exist; see 'twinyard get endpoints'"],
    ['pods', "KIND: unknown kind 'pods'"],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(`events ${args}`);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});

describe('issue', () => {
  it('prints the text alone, or a document', async () => {
    writeFileSync('key.yaml', `${head('ApiKey', 'web')}spec: {}\n`);
    await printed('apply -f key.yaml');
    const { code, stderr, stdout } = await twinyard('issue web');
    expect([code, stderr]).toEqual([
      0,
      'twinyard: ApiKey default/web has a new text; keep it now, it is not shown again\n',
    ]);
    expect(stdout).toMatch(/^ty_[a-z0-9]{12}_[\w-]{43}\n$/);
    expect(JSON.parse(await printed('issue web -o json'))).toEqual({
      ...{ key_id: stdout.slice(3, 15), key: expect.stringMatching(/^ty_/) },
    });
    expect((await twinyard('issue none')).code).toBe(2);
    const hint = '"[\\w-]{4}"';
    expect(await printed('events key web --audit')).toMatch(
      new RegExp(`  admin  issue  ApiKey default/web\n  status\\.hint: ${hint} -> ${hint}\n$`),
    );
  });
});

describe('a server', () => {
  it('that does not accept the token, or lets it do less, says so', async () => {
    expect(await twinyard('get ep --token wrong')).toMatchObject({
      code: 2,
      stderr: `twinyard: --token: is not accepted by ${server.url}: the admin token, or a key with a role, is missing or wrong; give another\n`,
    });
    expect(await twinyard(`apply -f chat.yaml --token ${VIEWER_TOKEN}`)).toMatchObject({
      code: 2,
      stderr:
        "twinyard: --token: this takes the role operator in the workspace 'default', and the key has the role viewer; use a key that has it\n",
    });
    expect((await twinyard(`logs ep chat --token ${VIEWER_TOKEN}`)).code).toBe(2);
    await printed('apply -f chat.yaml');
    for (const token of [VIEWER_TOKEN, NOBODY_TOKEN]) {
      const { code, stderr } = await twinyard(`scale ep chat --replicas 1 --token ${token}`);
      expect([code, stderr]).toEqual([2, expect.stringContaining('this takes the role operator in the workspace')]);
    }
  });

  it('that speaks no TLS is to be asked without', async () => {
    const url = server.url.replace('http:', 'https:');
    for (const args of ['get ep', 'logs ep chat']) {
      expect(await twinyard(`${args} --server ${url} --token t`)).toMatchObject({
        code: 2,
        stderr: `twinyard: --server: ${url} does not speak TLS; give ${server.url}\n`,
      });
    }
  });

  it('that is not named, and does not run here, is no mistake of the input', async () => {
    expect(await twinyard('get ep --data-dir none')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        "twinyard: no gateway runs here: there is no none/admin.json; start 'twinyard serve', or give --data-dir, or --server and --token\n",
    });
  });

  it('that is not there', async () => {
    await server.hangUp();
    for (const args of ['get ep', 'wait ep chat --for ready', 'logs ep chat']) {
      expect(await twinyard(args)).toMatchObject({
        code: 1,
        stderr: `twinyard: ${server.url}: ECONNREFUSED; is 'twinyard serve' running there?\n`,
      });
    }
    await server.listen();
  });
});
