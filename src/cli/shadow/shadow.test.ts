import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { serveApi } from '../../api/api-server.js';
import { configFor, FakeEngine, until } from '../../gateway/fake-engine.fixture.js';
import { managedEndpoint, managedReplica } from '../../gateway/fleet/managed.fixture.js';
import { Gateway } from '../../gateway/gateway.js';
import { leastLoaded } from '../../policy/routing/least-loaded.js';
import { installPatientShadows } from '../../twin/shadow/patient-shadows.fixture.js';
import { captured } from '../test-io.fixture.js';

let gateway: Gateway;
const opened: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  const engines = [await FakeEngine.start(), await FakeEngine.start()];
  for (const engine of engines) opened.push(() => engine.kill());
  const config = configFor(engines);
  const shadows = [{ name: 'kept', policy: 'least-loaded', options: {} }];
  const endpoints = config.endpoints.map((one) => ({ ...one, policy: { ...one.policy, shadows } }));
  gateway = new Gateway({ ...config, endpoints });
  installPatientShadows(gateway);
  gateway.api = serveApi(gateway);
  await gateway.start();
  opened.push(() => gateway.close(0));
  gateway.routes.put(managedEndpoint([managedReplica('a', engines[0]!.url)]));
  await until(() => gateway.replicas().every(({ state }) => state === 'ready'));
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const server = () => `--server ${gateway.adminUrl} --token ${gateway.adminToken}`;
const run = (line: string) => captured(`${line} ${server()}`);

async function complete(id: string): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/completions`, {
    method: 'POST',
    headers: { 'x-request-id': id },
    body: JSON.stringify({ model: 'm', prompt: 'hello' }),
  });
  await response.text();
  expect(response.status).toBe(200);
}

describe('twinyard shadow', () => {
  it('adds, lists, changes and removes a shadow of a running gateway', async () => {
    expect(await run('shadow add lmetric')).toEqual({
      code: 0,
      stdout: 'shadow lmetric (lmetric) follows endpoint default/default, which round-robin serves\n',
      stderr: '',
    });
    expect((await run('shadow add least-loaded --name mine --option tie_break=first')).code).toBe(0);
    await complete('one');
    await until(() => gateway.ring.find('one')!.shadows.length === 3);
    const { code, stdout } = await run('shadow list');
    const [where, titles, ...rows] = stdout.trimEnd().split('\n');
    expect([code, where]).toEqual([0, 'endpoint default/default, policy round-robin']);
    expect(titles).toMatch(
      /^NAME +POLICY +DECISIONS +DROPPED +AGREES +TTFT CHANGE +KNOWN PREFIX +MEAN TTFT +AGE +SOURCE$/,
    );
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 5))).toEqual([
      ['kept', 'least-loaded', '1', '0', '100.0 %'],
      ['lmetric', 'lmetric', '1', '0', '100.0 %'],
      ['mine', 'least-loaded', '1', '0', '100.0 %'],
    ]);
    expect(rows.map((row) => row.split(/ {2,}/).at(-1))).toEqual(['configuration', 'added', 'added']);
    const listed = JSON.parse((await run('shadow list -o json')).stdout);
    expect(listed[2]).toMatchObject({ name: 'mine', options: { tie_break: 'first' }, dropped: 0 });

    expect((await run('shadow add unified --name mine')).stdout).toContain('shadow mine (unified) follows');
    expect((await run('shadow remove mine')).stdout).toBe(
      'shadow mine (unified) removed from endpoint default/default\n',
    );
    expect((await run('shadow list -o name')).stdout).toBe('kept\nlmetric\n');
  });

  it('takes scorers and options, and an endpoint of another workspace', async () => {
    const chat = '--endpoint chat --workspace ws';
    const scorers = 'prefix-affinity:3,queue-depth:1';
    expect((await run(`shadow add weighted --routing-scorers ${scorers} ${chat}`)).code).toBe(0);
    const [shadow] = gateway.fleet.shadows!.of(gateway.endpoints.get('ws/chat')!);
    expect(shadow).toMatchObject({ policy: 'weighted', options: { scorers } });
    expect((await run(`shadow remove weighted ${chat}`)).stdout).toContain('removed from endpoint ws/chat');
    const none = await run(`shadow list ${chat}`);
    expect([none.stdout, none.stderr]).toEqual([
      '',
      "twinyard: endpoint ws/chat has no shadow policies; add one with 'twinyard shadow add'\n",
    ]);
  });

  it('refuses with a reason what cannot be, and changes nothing', async () => {
    for (const [line, reason] of [
      ['add nothing', "unknown routing policy 'nothing'"],
      ['add lmetric --option tie_break', 'is not of the form name=value'],
      ['add lmetric --option none=1', "'none'"],
      ['add unified --name kept', "is in the endpoint's configuration"],
      ['remove kept', "is in the endpoint's configuration; remove it there"],
      ['remove kep', "did you mean 'kept'"],
      ['list --endpoint other', 'endpoint default/other: is not served by this gateway'],
    ] as const) {
      const { code, stderr, stdout } = await run(`shadow ${line}`);
      expect([line, code, stdout]).toEqual([line, 2, '']);
      expect(stderr).toContain(reason);
    }
    expect((await run('shadow list -o name')).stdout).toBe('kept\n');
  });

  it('says which shadow has stopped and why, and which had no time to decide at all', async () => {
    vi.spyOn(leastLoaded, 'create').mockReturnValueOnce({
      pick: () => {
        throw new Error('a bug');
      },
    });
    await run('shadow add lmetric');
    await complete('one');
    const shadows = gateway.fleet.shadows!;
    const figures = () => shadows.of(gateway.endpoints.get('default')!);
    await until(() => figures()[0]!.stopped !== null);
    const { stdout } = await run('shadow list');
    expect(stdout).toMatch(/^shadow kept stopped .+ ago: a bug; a change of its policy starts it again$/m);
    expect(stdout).toMatch(/^lmetric +lmetric +1 +0 /m);
    const dropped = figures().map((one) => ({ ...one, dropped: 1500, stopped: null, onRealPlacements: [] }));
    vi.spyOn(shadows, 'of').mockReturnValue(dropped);
    const all = (await run('shadow list')).stdout;
    expect(all).toMatch(/^kept +least-loaded +0 +1,500 \(100 %\) +- /m);
    expect(all).toContain('shadow kept has not decided yet: the gateway had no time for any of 1,500 decisions\n');
    vi.restoreAllMocks();
  });

  it('explains which reading chose what', async () => {
    await complete('one');
    await until(() => gateway.ring.find('one')!.shadows.length === 1);
    const { stdout } = await run('explain one');
    expect(stdout).toMatch(/^shadow policy +real placements +own placements$/m);
    expect(stdout).toMatch(/^kept \(least-loaded\) +r0, same +r0, same$/m);
    expect(stdout).toContain('real placements: where round-robin placed all requests before');
  });
});
