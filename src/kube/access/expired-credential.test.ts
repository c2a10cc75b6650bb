import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { LeaseElection } from '../election/lease-election.js';
import { MemoryLeases } from '../election/memory-leases.fixture.js';
import { KubeClient } from '../kube-client.js';
import type { KubeObject } from '../kube-object.js';
import { ListWatch } from '../watch/list-watch.js';
import { readKubeconfig } from './kubeconfig.js';

/** An API server that accepts one token, with a list, watches and Leases. */
async function serverWith(token: string) {
  const leases = new MemoryLeases();
  const state = { token, watches: [] as ServerResponse[], refused: 0, applied: 0 };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const json = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body));
    if (request.headers.authorization !== `Bearer ${state.token}`) {
      state.refused++;
      return json(401, { message: 'Unauthorized', reason: 'Unauthorized' });
    }
    const { pathname, searchParams } = new URL(request.url!, 'http://kube');
    const method = request.method as 'GET' | 'PATCH';
    if (searchParams.get('watch') === 'true') {
      state.watches.push(response);
      return response.writeHead(200).flushHeaders();
    }
    if (pathname.endsWith('/pods')) return json(200, { metadata: { resourceVersion: '1' }, items: [] });
    if (method === 'PATCH') return json(200, { applied: ++state.applied });
    const call = { method, ...(text === '' ? {} : { body: JSON.parse(text) }) };
    return leases
      .client()
      .json(pathname, call)
      .then(
        (body) => json(200, body),
        (error: { status: number; message: string }) => json(error.status, { message: error.message }),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { leases, state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise(setImmediate);
};

/** Where a token stands, and how it is replaced there. */
const KINDS = {
  'a token file': (folder: string) => ({
    user: { tokenFile: 'token' },
    path: join(folder, 'token'),
    wrap: (t: string) => t,
  }),
  'a credential plugin': (folder: string) => ({
    user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin' } },
    path: join(folder, 'plugin'),
    wrap: (t: string) => `#!/bin/sh\necho '{"kind":"ExecCredential","status":{"token":"${t}"}}'\n`,
  }),
  'a token in the kubeconfig': (folder: string, url: string) => ({
    user: { token: 'one' },
    path: join(folder, 'config'),
    wrap: (t: string) => config(url, { token: t }),
  }),
};

const config = (server: string, user: object) =>
  JSON.stringify({
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user }],
  });

describe('a credential that has expired', () => {
  afterEach(() => vi.useRealTimers());

  it.each(Object.entries(KINDS))(
    'as %s is read again: lists, watches, writes and renewals go on',
    async (_, kindOf) => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const folder = mkdtempSync(join(tmpdir(), 'twinyard-expired-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const { leases, state, url } = await serverWith('one');
      const { path, user, wrap } = kindOf(folder, url);
      writeFileSync(join(folder, 'config'), config(url, user));
      const set = (token: string) => {
        writeFileSync(path, wrap(token));
        chmodSync(path, 0o700);
      };
      set('one');
      const client = new KubeClient(readKubeconfig(join(folder, 'config'), null));
      const problems: (string | null)[] = [];
      const pods: ListWatch<KubeObject> = new ListWatch({
        ...{ client, path: '/api/v1/namespaces/n/pods', timing: { leastPauseMs: 1 } },
        changed: () => problems.push(pods.problem),
      });
      const election = await LeaseElection.open({
        ...{
          client,
          identity: 'a',
          lease: { namespace: 'n', name: 'l' },
          mayLead: async () => true,
          isAble: () => true,
        },
        changed: (isHeld) => problems.push(isHeld ? null : 'lost'),
        onProblem: (line) => problems.push(line),
      });
      onTestFinished(async () => {
        await pods.close();
        await client.close();
      });
      await until(() => state.watches.length === 1);
      const renewed = () => leases.leases.get('l')!.metadata.resourceVersion;
      const before = renewed();

      state.token = 'two';
      set('two');
      state.watches[0]!.end();
      await until(() => state.watches.length === 2);
      vi.advanceTimersByTime(2000);
      await until(() => renewed() !== before);
      await client.json('/apis/apps/v1/namespaces/n/deployments/d', { method: 'PATCH', body: {} });
      expect([state.applied, state.refused > 0, election.isHeld]).toEqual([1, true, true]);
      expect(problems.filter((one) => one !== null)).toEqual([]);
      await election.release();
    },
  );

  it('in files that are being replaced stays as it was until they can be read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-expired-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const user = { 'client-certificate': 'me.crt', 'client-key': 'me.key' };
    const put = (text: string) => {
      for (const name of ['me.crt', 'me.key']) writeFileSync(join(folder, name), text);
    };
    writeFileSync(join(folder, 'config'), config('https://kube', user));
    put('old');
    const { credentials } = readKubeconfig(join(folder, 'config'), null);
    rmSync(join(folder, 'me.key'));
    expect(await credentials.read(true)).toMatchObject({ cert: 'old', key: 'old' });
    put('new');
    expect(await credentials.read(false)).toMatchObject({ cert: 'old' });
    expect(await credentials.read(true)).toMatchObject({ cert: 'new', key: 'new' });
  });
});
