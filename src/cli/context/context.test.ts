import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, FakeControlServer, VIEWER_TOKEN } from '../control/control-server.fixture.js';
import { endpoint, head } from '../control/control-yard.fixture.js';
import { inTestFolder } from '../test-folder.fixture.js';
import { captured, type Terminal } from '../test-io.fixture.js';

inTestFolder(() => {});
const FILE = 'home/.config/twinyard/contexts.json';
const twinyard = (args: string, terminal: Terminal = {}) =>
  captured(args, { ...terminal, env: { HOME: 'home', ...terminal.env } });

/** What a command prints that succeeds. */
async function printed(args: string, terminal: Terminal = {}): Promise<string> {
  const ended = await twinyard(args, terminal);
  expect(ended).toMatchObject({ code: 0 });
  return ended.stdout;
}

describe('contexts', () => {
  it('are created, changed, chosen, listed and deleted; no command prints a token', async () => {
    writeFileSync('token.txt', 'a-secret-token\n');
    const set = await twinyard('context set prod --server https://gateway.example:8081/ --token-file token.txt');
    expect(set).toEqual({
      code: 0,
      stdout: 'context prod created\n',
      stderr: "twinyard: 'twinyard context use prod' makes it the current one\n",
    });
    expect(await printed('context set prod -n search')).toBe('context prod changed\n');
    expect(await printed('context set lab --workspace lab')).toBe('context lab created\n');
    expect(await printed('context use prod')).toBe('context prod is used\n');
    expect(await printed('context list', { columns: 200 })).toBe(
      [
        'CURRENT  NAME  SERVER                        WORKSPACE  TOKEN',
        '         lab                                 lab        no',
        '*        prod  https://gateway.example:8081  search     yes\n',
      ].join('\n'),
    );
    expect(await printed('context list -o name')).toBe('lab\nprod\n');
    expect(JSON.parse(await printed('context show -o json'))).toEqual({
      ...{ name: 'prod', current: true, server: 'https://gateway.example:8081', workspace: 'search', token: true },
    });
    expect(await printed('context show lab')).toContain('server:    the gateway of the data folder\nworkspace: lab\n');
    for (const args of ['context list', 'context list -o json', 'context show', 'context show -o json']) {
      expect(await printed(args)).not.toContain('a-secret-token');
    }
    expect(await printed('context delete prod')).toBe('context prod deleted\n');
    expect(readFileSync(FILE, 'utf8')).not.toContain('a-secret-token');
    expect(await printed('context list -o json')).toContain('"current": false');
    expect(await printed('context use lab')).toBe('context lab is used\n');
    expect(await printed('context use --none')).toBe('no context is used\n');
  });

  it('are stored in a file that only its owner may read', async () => {
    await printed('context set a --token t --server http://a');
    expect(statSync(FILE).mode & 0o777).toBe(0o600);
    chmodSync(FILE, 0o644);
    await printed('context set a -n b');
    expect(statSync(FILE).mode & 0o777).toBe(0o600);
    await printed('context set b --server http://b --token-file -', { stdin: 'from-stdin\n' });
    expect(JSON.parse(readFileSync(FILE, 'utf8')).contexts.b.token).toBe('from-stdin');
  });

  it('lose their token with their server', async () => {
    await printed('context set a --server http://a --token t');
    await printed('context set a --server http://elsewhere');
    expect(JSON.parse(readFileSync(FILE, 'utf8')).contexts.a).toEqual({ server: 'http://elsewhere' });
    await printed('context use a');
    expect((await twinyard('get ep')).stderr).toContain('--token: is required for http://elsewhere');
  });

  it.each([
    ['context use prod', "NAME: there is no context 'prod'; create it with 'twinyard context set'"],
    ['context use', 'NAME: is required'],
    ['context show', 'NAME: is required'],
    ['context delete prod', "there is no context 'prod'"],
    ['context set ../x -n a', "NAME: '../x' is not the name of a context; give letters, digits"],
    ['context set a', '--server: --token or --workspace is required; give what the context is to hold'],
    ['context set a --server ftp://x', "--server: 'ftp://x' is not an http or https URL"],
    ['context set a --token t --token-file f', '--token: is given together with --token-file'],
    ['context set a --token-file none', "--token-file: 'none' no such file"],
    ['get ep --context prod', "--context: there is no context 'prod'"],
    ['get ep --context prod --data-dir x', '--context: is given together with --data-dir'],
  ])('%s is refused', async (args, message) => {
    const ended = await twinyard(args);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
  });

  it('that cannot be read are named by their file, without its content', async () => {
    mkdirSync('home/.config/twinyard', { recursive: true });
    writeFileSync(FILE, '{"current": "a", "contexts": {"a": {"token": "t0ken"}');
    expect(await twinyard('get ep')).toEqual({
      code: 2,
      stdout: '',
      stderr: `twinyard: ${FILE}: is not a file of contexts; correct it, or delete it and use 'twinyard context set'\n`,
    });
    expect((await captured('context set a -n b')).stderr).toContain('HOME: is not set');
  });
});

describe('commands', () => {
  let one: FakeControlServer;
  let other: FakeControlServer;
  beforeEach(async () => {
    for (const folder of ['one', 'other']) mkdirSync(folder);
    [one, other] = [await FakeControlServer.start('one'), await FakeControlServer.start('other')];
    writeFileSync('lab.yaml', `${head('Workspace', 'lab')}spec: {}\n---\n${endpoint('', 'inner')}`);
    await printed('context set one --token-file - -n lab --server '.concat(one.url), { stdin: ADMIN_TOKEN });
    await printed('context set other --token-file - --server '.concat(other.url), { stdin: VIEWER_TOKEN });
    await printed('context use one');
  });
  afterEach(async () => {
    await one.close();
    await other.close();
  });

  it('use the server, the token and the workspace of the context', async () => {
    expect(await printed('apply -f lab.yaml')).toBe('Workspace lab created\nEndpoint lab/inner created\n');
    expect(await printed('get ep -o name')).toBe('endpoint/inner\n');
    expect(await printed('scale ep/inner --replicas 2')).toContain('Endpoint lab/inner changed');
    expect((await twinyard('get ep -n default')).stderr).toContain("no endpoints in the workspace 'default'");
    expect((await twinyard('get ep --context other')).stderr).toContain("no endpoints in the workspace 'default'");
    expect((await twinyard('apply -f lab.yaml --context other')).stderr).toContain('requires the role operator');
    const env = { TWINYARD_CONTEXT: 'other' };
    expect((await twinyard('get ep', { env })).stderr).toContain("no endpoints in the workspace 'default'");
    expect(await printed('get ep -o name --context one', { env })).toBe('endpoint/inner\n');
    // A server that is named otherwise is not the server of the context: neither is its workspace.
    expect((await twinyard('get ep --data-dir one/.twinyard')).stderr).toContain(
      "no endpoints in the workspace 'default'",
    );
    expect((await twinyard(`get ep --server ${one.url}`)).stderr).toContain('--token: is required');
  });

  it('send the token of a context to its own server only', async () => {
    const { stderr } = await twinyard(`get ep --context one --server ${other.url}`);
    expect(stderr).toContain(`--token: is required for ${other.url}`);
  });
});
