import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findAccess } from './find-access.js';
import { inCluster } from './in-cluster.js';
import { readKubeconfig } from './kubeconfig.js';

function folder(files: Record<string, string>): string {
  const path = mkdtempSync(join(tmpdir(), 'twinyard-kube-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return path;
}

const config = (user: object, cluster: object = {}) =>
  JSON.stringify({
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'prod' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443/', ...cluster } }],
    users: [{ name: 'u', user }],
  });

const read = (user: object, cluster: object = {}, files: Record<string, string> = {}) =>
  readKubeconfig(join(folder({ config: config(user, cluster), ...files }), 'config'), null);

describe('a kubeconfig', () => {
  it('names server, namespace, CA and token', async () => {
    const data = Buffer.from('PEM').toString('base64');
    const access = read({ token: 'secret' }, { 'certificate-authority-data': data, 'tls-server-name': 'kube' });
    expect(access).toMatchObject({
      server: 'https://10.0.0.1:6443',
      namespace: 'prod',
      ca: 'PEM',
      tlsServerName: 'kube',
    });
    expect(await access.credentials.read(false)).toEqual({ authorization: 'Bearer secret' });
  });

  it('finds files beside it', async () => {
    const files = { 'ca.crt': 'CA', 'me.crt': 'CERT', 'me.key': 'KEY' };
    const user = { 'client-certificate': 'me.crt', 'client-key': 'me.key' };
    const access = read(user, { 'certificate-authority': 'ca.crt' }, files);
    expect(access.ca).toBe('CA');
    expect(await access.credentials.read(false)).toEqual({ authorization: null, cert: 'CERT', key: 'KEY' });
  });

  it('reads a token file again when the token is refused', async () => {
    const path = folder({ config: config({ tokenFile: 'token' }), token: 'first\n' });
    const { credentials } = readKubeconfig(join(path, 'config'), null);
    expect(await credentials.read(false)).toEqual({ authorization: 'Bearer first' });
    writeFileSync(join(path, 'token'), 'second');
    expect(await credentials.read(false)).toEqual({ authorization: 'Bearer first' });
    expect(await credentials.read(true)).toEqual({ authorization: 'Bearer second' });
  });

  it('runs a credential plugin, once until its token expires', async () => {
    const script = `#!/bin/sh
echo run >> "$(dirname "$0")/runs"
echo "{\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"$GREETING\\",\\"expirationTimestamp\\":\\"2999-01-01T00:00:00Z\\"}}"`;
    const path = folder({ plugin: script });
    chmodSync(join(path, 'plugin'), 0o755);
    writeFileSync(
      join(path, 'config'),
      config({ exec: { command: './plugin', env: [{ name: 'GREETING', value: 'hi' }] } }),
    );
    const { credentials } = readKubeconfig(join(path, 'config'), null);
    const both = await Promise.all([credentials.read(false), credentials.read(false)]);
    expect([...both, await credentials.read(false)]).toEqual(Array(3).fill({ authorization: 'Bearer hi' }));
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(join(path, 'runs'), 'utf8')).toBe('run\n');
  });

  it('reports a plugin that fails with its last line', async () => {
    const access = read({ exec: { command: 'sh', args: ['-c', 'echo please log in >&2; exit 3'] } });
    await expect(access.credentials.read(false)).rejects.toThrow('sh: the credential plugin failed (please log in)');
  });

  it.each([
    [{ users: [] }, "has no user 'u'"],
    [{ 'current-context': '' }, 'has no current context'],
    [{ clusters: [{ name: 'c', cluster: {} }] }, "cluster 'c' has no server"],
    [{ users: [{ name: 'u', user: { 'client-key-data': 'YQ==' } }] }, "user 'u' has a certificate without its key"],
    [
      { users: [{ name: 'u', user: { 'auth-provider': { name: 'oidc' } } }] },
      "uses the provider 'oidc' without a token",
    ],
  ])('is refused with %j', (change, problem) => {
    const path = folder({ config: JSON.stringify({ ...JSON.parse(config({ token: 't' })), ...change }) });
    expect(() => readKubeconfig(join(path, 'config'), null)).toThrow(problem);
  });
});

it('names a kubeconfig that cannot be read, and how to give another', () => {
  const path = join(folder({}), 'none');
  const hint = 'give another with kubeconfig=FILE, or set KUBECONFIG';
  expect(() => readKubeconfig(path, null)).toThrow(`${path}: no such file; ${hint}`);
});

describe('the cluster', () => {
  it('is that of the pod where no kubeconfig is given', async () => {
    const account = folder({ token: 'pod\n', namespace: 'prod\n', 'ca.crt': 'CA' });
    const access = inCluster({ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }, account)!;
    expect(access).toMatchObject({ server: 'https://[fd00::1]:443', ca: 'CA', namespace: 'prod' });
    expect(await access.credentials.read(false)).toEqual({ authorization: 'Bearer pod' });
    expect(inCluster({}, account)).toBeNull();
  });

  it('is that of the first existing file of KUBECONFIG, or of the home folder', () => {
    const path = folder({ one: config({ token: 't' }), '.kube/config': config({}, { server: 'https://home:1' }) });
    const choice = { kubeconfig: null, context: null };
    const listed = findAccess(choice, { KUBECONFIG: `${join(path, 'missing')}:${join(path, 'one')}`, HOME: path });
    expect(listed.server).toBe('https://10.0.0.1:6443');
    expect(findAccess(choice, { HOME: path }).server).toBe('https://home:1');
    expect(() => findAccess(choice, { HOME: join(path, 'nowhere') })).toThrow(
      'does not exist, and this process runs in no pod; give a kubeconfig',
    );
  });
});
