import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveApi } from '../../api/api-server.js';
import { configFor, FakeEngine, until } from '../../gateway/fake-engine.fixture.js';
import { Gateway } from '../../gateway/gateway.js';
import { PROFILE, recordingOf, served } from '../../twin/whatif/recorded-run.fixture.js';
import { captured as twinyard } from '../test-io.fixture.js';

const opened: (() => unknown)[] = [];
let gateway: Gateway;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-whatif-gateway-'));
  opened.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'traffic.jsonl');
  // As a file that was rotated, of a minute ago: the gateway writes its own.
  const run = served({ requests: 300 }, { routing: { policy: 'round-robin', options: {} } });
  writeFileSync(`${path}.1`, recordingOf(run, {}, (Date.now() - 60_000) * 1000));
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  gateway = new Gateway(configFor([engine], { record: { path, maxBytes: 1e6, files: 2 } }));
  gateway.api = serveApi(gateway);
  await gateway.start();
  opened.push(() => gateway.close(0));
  await until(() => gateway.isReady);
  gateway.endpoints.get('default')!.profiles.set('r0', PROFILE);
});
afterAll(async () => {
  for (const close of opened.reverse()) await close();
});

// biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
async function call(method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${gateway.adminUrl}/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${gateway.adminToken}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return text.startsWith('{') ? JSON.parse(text) : text;
}

/** Runs a line that a job names. */
const run = (line: string) => twinyard(`${line.slice('twinyard '.length)} --token ${gateway.adminToken}`);

it('prints what the job of the same question returns, by the command that the job names', async () => {
  const { commands, id } = await call('POST', 'workspaces/default/endpoints/default/whatif', {
    policies: [{ policy: 'lmetric', options: { tie_break: 'first' } }],
    ...{ replicas: 3, flow_control: { max_concurrency: 40 }, last: '24h', runs: 5 },
  });
  // The end of the time is when the job was asked for.
  expect(commands.map((line: string) => line.replace(/ --to \S+Z /, ' '))).toEqual([
    `twinyard whatif --gateway ${gateway.adminUrl} --endpoint default/default --last 24h ` +
      '--policy lmetric --policy-option tie_break=first --replicas 3 --flow-control --saturation-detector concurrency ' +
      '--dispatch-tick-interval 0 --max-concurrency 40 --request-ttl 30000000 --max-gateway-queue-depth 1000 --runs 5',
  ]);
  await call('GET', `jobs/${id}/events`);
  const { error, result } = await call('GET', `jobs/${id}`);
  expect(error).toBeNull();
  const { code, stderr, stdout } = await run(commands[0]);
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  const { recording, ...printed } = JSON.parse(stdout);
  const { recording: ofJob, ...same } = result;
  expect(printed).toEqual(same);
  expect({ ...recording, file: '' }).toEqual({ ...ofJob, file: '' });
});
