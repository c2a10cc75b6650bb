import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ControlApi, endpointOf, lineEngine } from './support/control-api.js';
import { EndpointYard } from './support/endpoint-yard.js';
import { serveProcess } from './support/serve-process.js';

const isRoot = process.getuid?.() === 0;

/** An engine that tries to read what belongs to the server, prints what it got, and serves. */
const SPY = `
const fs = require('fs'), path = require('path');
const own = process.env.TWINYARD_REPLICA_FOLDER, data = path.resolve(own, '../../../..');
const got = {};
const attempt = (name, read) => { try { got[name] = read(); } catch (error) { got[name] = error.code; } };
for (const file of ['admin-token', 'admin.json', 'secrets.key', 'control-id', '../yard.db', '../yard.db-wal'])
  attempt(file, () => fs.readFileSync(path.join(data, file), 'latin1').slice(0, 60).trim());
attempt('data', () => fs.readdirSync(data).length);
attempt('replicas', () => fs.readdirSync(path.join(own, '..')).length);
attempt('own log', () => fs.readFileSync(path.join(own, 'log'), 'utf8').length);
attempt('own state', () => fs.readFileSync(path.join(own, 'state.json'), 'utf8').length);
attempt('log of another', () => fs.readFileSync(path.join(path.dirname(own), process.argv[2], 'log'), 'utf8').length);
attempt('environment of the server', () => fs.readFileSync('/proc/' + process.ppid + '/environ', 'utf8').length);
attempt('memory of the server', () => fs.openSync('/proc/' + process.ppid + '/mem', 'r'));
attempt('kill', () => process.kill(process.ppid, 0));
attempt('work', () => (fs.writeFileSync('note', 'x'), 'written'));
got.ids = [process.getuid(), process.getgid(), ...process.getgroups()];
got.env = Object.keys(process.env).sort();
console.log('SPY ' + JSON.stringify(got));
require('http').createServer((_, response) => response.end('{}')).listen(+process.argv[1], '127.0.0.1');
`
  .trim()
  .replaceAll('\n', ' ');

async function yardFor(...flags: string[]): Promise<{ yard: EndpointYard; api: ControlApi }> {
  const yard = new EndpointYard();
  // The system user of replicas has to reach the folder.
  chmodSync(yard.folder, 0o711);
  process.env.SOME_SECRET_OF_THE_SERVER = 'x';
  try {
    await yard.start(...flags);
  } finally {
    delete process.env.SOME_SECRET_OF_THE_SERVER;
  }
  return { yard, api: new ControlApi(yard) };
}

async function linesOf(api: ControlApi, name: string): Promise<string> {
  return (await api.ask('GET', `workspaces/default/endpoints/${name}/logs`)).text;
}

async function spied(api: ControlApi, other: string): Promise<Record<string, unknown>> {
  await api.apply(lineEngine('spy', SPY), endpointOf('spy', 'spy', { model: { name: other } }));
  await api.untilPhase('spy', 'Running');
  const [, line] = /"line":("SPY .*")\}\n/.exec(await linesOf(api, 'spy'))!;
  return JSON.parse((JSON.parse(line!) as string).slice('SPY '.length)) as Record<string, unknown>;
}

describe('a replica', () => {
  test.skipIf(!isRoot)('of another user reads nothing of the server, and still serves', async () => {
    const { yard, api } = await yardFor('--replica-user', 'nobody');
    await api.apply(endpointOf('chat', 'emulator', { model: { name: 'qwen/qwen3-14b' } }));
    const { replicas } = await api.untilPhase('chat', 'Running');
    const { env, ids, ...got } = await spied(api, replicas[0]!.id);
    const denied = ['admin-token', 'admin.json', 'secrets.key', 'control-id', '../yard.db', '../yard.db-wal', 'data'];
    const others = [
      'replicas',
      'own log',
      'own state',
      'log of another',
      'environment of the server',
      'memory of the server',
    ];
    const expected = Object.fromEntries([...denied, ...others].map((name) => [name, 'EACCES']));
    expect(got).toEqual({ ...expected, kill: 'EPERM', work: 'written' });
    expect(new Set(ids as number[])).toEqual(new Set([65_534]));
    expect(env).not.toContain('SOME_SECRET_OF_THE_SERVER');
    // Also after the control plane was killed: the next one adopts both.
    await yard.killServe();
    await yard.start('--replica-user', 'nobody');
    expect((await api.untilPhase('spy', 'Running')).replicas).toHaveLength(1);
  });

  test('of the same user gets none of its variables, and its log is shown without the admin token', async () => {
    const { yard, api } = await yardFor();
    const got = await spied(api, 'none');
    expect(got.env).not.toContain('SOME_SECRET_OF_THE_SERVER');
    const { token } = yard.serve;
    expect(readFileSync(join(yard.folder, 'data', 'admin-token'), 'utf8').trim()).toBe(token);
    expect(got['admin-token']).toBe('***');
    expect(await linesOf(api, 'spy')).not.toContain(token);
    await yard.killServe();
    await yard.start();
    await api.untilPhase('spy', 'Running');
    expect(await linesOf(api, 'spy')).not.toContain(token);
  });

  test('shows no secret of its endpoint in its log, nor in its status when it ends', async () => {
    const { yard, api } = await yardFor();
    const secret = 'hush-hush-0123456789';
    const says = "console.log('token is ' + process.env.TOKEN); process.exit(3)";
    await api.apply(lineEngine('loud', says), endpointOf('loud', 'loud', { secret_env: { TOKEN: secret } }));
    const { last_lines } = await api.until('loud', (status) => (status.last_lines ?? []).length > 0);
    expect(last_lines).toContain('token is ***');
    await yard.killServe();
    await yard.start();
    await api.until('loud', (status) => (status.last_lines ?? []).length > 0);
    const shown = [await linesOf(api, 'loud'), (await api.ask('GET', 'workspaces/default/endpoints/loud')).text];
    expect(shown.join('')).not.toContain(secret);
  });
});

describe('an operator', () => {
  test('cannot make an endpoint print the admin token', async () => {
    const yard = new EndpointYard();
    const serve = await serveProcess(['--data-dir', join(yard.folder, 'data')]);
    const api = new ControlApi({ serve } as EndpointYard);
    await api.apply({ kind: 'ApiKey', metadata: { name: 'olga' }, spec: { role: 'operator' } });
    const issued = await api.ask('POST', 'workspaces/default/apikeys/olga/issue', '{}');
    const { key } = JSON.parse(issued.text) as { key: string };
    const reads =
      "import fs from 'node:fs';console.log(fs.readFileSync(process.env.TWINYARD_REPLICA_FOLDER+'/../../../../admin-token','utf8'))";
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(reads)}` };
    const body = {
      apiVersion: 'twinyard/v1',
      ...endpointOf('evil', 'emulator', { model: { name: 'qwen/qwen3-14b' }, env }),
    };
    const { adminUrl } = serve;
    const sent = (method: string, path: string) =>
      fetch(`${adminUrl}/api/v1/${path}`, {
        method,
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${key}` },
      });
    const path = 'workspaces/default/endpoints';
    const statuses = [await sent('POST', 'apply'), await sent('POST', path), await sent('PUT', `${path}/evil`)];
    expect(statuses.map(({ status }) => status)).toEqual([422, 422, 422]);
    expect((await api.ask('GET', `${path}/evil`)).status).toBe(404);
  });
});

describe('--replica-user', () => {
  const started = (...flags: string[]) =>
    serveProcess(flags).then(
      () => 'started',
      (error: Error) => error.message,
    );

  test.skipIf(!isRoot).each([
    ['root', "'root' is root"],
    ['0', "'0' is root"],
    ['65534:0', "'65534:0' is root"],
    ['no-such-user', "there is no user 'no-such-user'"],
    ['a:b:c', "'a:b:c' is not a user"],
    ['nobody:x', "'x' is not a group id"],
  ])('%s is refused', async (user, problem) => {
    const yard = new EndpointYard();
    expect(await started('--data-dir', join(yard.folder, 'data'), '--replica-user', user)).toContain(problem);
  });

  test.skipIf(!isRoot)(
    'is refused where that user cannot reach its folders, or can read a file of the server',
    async () => {
      const yard = new EndpointYard();
      const flags = ['--data-dir', join(yard.folder, 'data'), '--replica-user', 'nobody'];
      expect(await started(...flags)).toContain(`${yard.folder}: closed to the replica user 'nobody'`);
      chmodSync(yard.folder, 0o711);
      chmodSync(join(yard.folder, 'data', 'control-id'), 0o644);
      expect(await started(...flags)).toContain("control-id: can be read by the replica user 'nobody'; chmod 600");
    },
  );
});
