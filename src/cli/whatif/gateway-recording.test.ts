import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serveApi } from '../../api/api-server.js';
import type { GatewayConfig } from '../../gateway/config/gateway-config.js';
import { configFor, FakeEngine, until } from '../../gateway/fake-engine.fixture.js';
import { Gateway } from '../../gateway/gateway.js';
import { profileText } from '../../replica/latency/profile-file.js';
import { PROFILE, recordingOf, served } from '../../twin/whatif/recorded-run.fixture.js';
import type { WhatIfDocument } from '../../twin/whatif/whatif-document.js';
import { captured } from '../test-io.fixture.js';

const opened: (() => unknown)[] = [];
const folder = mkdtempSync(join(tmpdir(), 'twinyard-gateway-recording-'));
let engine: FakeEngine;
let gateway: Gateway;

async function gatewayOf(change: Partial<GatewayConfig>): Promise<Gateway> {
  const made = new Gateway(configFor([engine, engine], change));
  made.api = serveApi(made);
  await made.start();
  opened.push(() => made.close(0));
  await until(() => made.isReady);
  return made;
}

beforeAll(async () => {
  opened.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'traffic.jsonl');
  // As a file that was rotated: the gateway writes its own.
  const run = served({ requests: 300 }, { routing: { policy: 'round-robin', options: {} } });
  writeFileSync(`${path}.1`, recordingOf(run, {}, (Date.now() - 86_400_000) * 1000));
  engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  gateway = await gatewayOf({ record: { path, maxBytes: 1e6, files: 2 } });
});
afterAll(async () => {
  for (const close of opened.reverse()) await close();
});

const profiles = () => gateway.endpoints.get('default')!.profiles;
beforeEach(() => profiles().keep([]));

const ask = (args: string, { adminToken, adminUrl }: Pick<Gateway, 'adminToken' | 'adminUrl'> = gateway) =>
  captured(
    `whatif --gateway ${adminUrl} --token ${adminToken} --runs 5 ${args.includes('--last') ? '' : '--last 10d'} ${args}`,
  );
const leftBehind = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`twinyard-whatif-${process.pid}-`));

describe('whatif --gateway', () => {
  it('takes the profile of the endpoint, its policy and its settings: nothing else has to be named', async () => {
    const profile = { ...PROFILE, scheduler: { totalKvBlocks: 2000, maxNumSeqs: 32, maxModelLen: 8192 } };
    for (const id of ['r0', 'r1']) profiles().set(id, profile);
    const { code, stderr, stdout } = await ask('--replicas 3');
    expect([code, stderr]).toEqual([0, '']);
    const { alternatives, baseline, recording } = JSON.parse(stdout) as WhatIfDocument;
    expect(alternatives).toMatchObject([{ name: 'round-robin on 3 replicas', hardware: 'H100', replicas: 3 }]);
    expect(baseline.profile).toMatchObject({ name: 'small engine', source: 'given' });
    expect(recording).toMatchObject({ requests: 300, file: `${gateway.adminUrl} (default)` });
    expect(leftBehind()).toEqual([]);
  });

  it('simulates the profile of most replicas, and warns, where they have several', async () => {
    profiles().set('r0', PROFILE);
    profiles().set('r1', { ...PROFILE, name: 'another' });
    const { code, stderr } = await ask('--policy lmetric');
    expect(code).toBe(0);
    expect(stderr).toContain(
      'the replicas of default have 2 latency profiles: that of most of them is simulated, and others as much slower or faster as the recording shows',
    );
  });

  it('takes the engines as flags describe them', async () => {
    profiles().set('r0', PROFILE);
    const file = join(folder, 'profile.json');
    writeFileSync(file, profileText({ ...PROFILE, name: 'of a file' }));
    const { code, stdout } = await ask(`--policy lmetric --latency-profile ${file}`);
    expect([code, (JSON.parse(stdout) as WhatIfDocument).baseline.profile.name]).toEqual([0, 'of a file']);
  });

  it.each([
    [
      'has no profile and a model that is not in the catalogue',
      '--policy lmetric',
      "--gateway: has no latency profile of default yet, and step times cannot be fitted: 'm' is not in the catalogue",
      'name the model and the GPU of its engines (--model, --hardware, --tp), or give --latency-profile',
    ],
    [
      'has recorded nothing in that time',
      '--last 1us',
      'recording of endpoint default: has no requests; send requests to the gateway, or choose a longer time',
      'choose',
    ],
    ['does not serve the endpoint', '--endpoint chat', 'endpoint default/chat: is not served', ''],
    ['is asked for a policy that does not exist', '--policy lmetrik', "unknown routing policy 'lmetrik'", ''],
  ])('says in one line that the gateway %s', async (_, args, problem, hint) => {
    const { code, stderr, stdout } = await ask(args);
    expect([code, stdout, stderr.trim().split('\n').length]).toEqual([2, '', 1]);
    expect(stderr).toContain(problem);
    expect(stderr).toContain(hint);
    expect(leftBehind()).toEqual([]);
  });

  it('says in one line that a gateway does not record', async () => {
    const { code, stderr } = await ask('--policy lmetric', await gatewayOf({}));
    expect([code, stderr.trim().split('\n').length]).toEqual([2, 1]);
    expect(stderr).toContain("set 'record' in its configuration");
  });

  it('says in one line that the gateway went away in the middle, and leaves no file', async () => {
    const server = createServer((request, response) => {
      if (request.url!.startsWith('/api/v1/live')) {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ kind: 'List', items: [{ workspace: 'default', name: 'chat' }], next: null }));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: facts\ndata: {}\n\nevent: request\ndata: {}\n\n', () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    opened.push(() => server.close());
    const adminUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, stderr } = await ask('--policy lmetric', { adminUrl, adminToken: 'x' });
    expect([code, stderr.trim().split('\n').length, leftBehind()]).toEqual([1, 1, []]);
    expect(stderr).toMatch(/is 'twinyard serve' (still )?running there\?/);
  });
});
