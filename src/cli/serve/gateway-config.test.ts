import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { storeFile } from '../../store/database/store-address.js';
import { parseFlags } from '../flags/parse-flags.js';
import { gatewayConfig } from './gateway-config.js';
import { SERVE } from './serve.js';
import type { ServeFlags } from './serve-flags.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const configOf = async (...args: string[]) => gatewayConfig(await parseFlags<ServeFlags>(SERVE, args), () => {});

test('without replicas and a store, the store of the data folder is used, and API keys are not required', async () => {
  expect(await configOf()).toMatchObject({
    endpoints: [],
    store: resolve('.twinyard', 'twinyard.db'),
    dataDir: resolve('.twinyard'),
    access: { keys: 'off' },
  });
});

test('a store is enough: replicas then come from resources', async () => {
  const path = join(folder, 'yard.db');
  const expected = { endpoints: [], store: path, dataDir: join(folder, '.twinyard') };
  expect(await configOf('--store', path)).toMatchObject({ ...expected, access: { keys: 'required' } });
  const file = join(folder, 'twinyard.yaml');
  writeFileSync(file, 'store: yard.db\naccess: { keys: off }\n');
  expect(await configOf('-c', file)).toMatchObject({ ...expected, access: { keys: 'off' } });
});

test('the folder of the data may be named, and wins over the file', async () => {
  expect(await configOf('--data-dir', join(folder, 'd'))).toMatchObject({
    ...{ store: join(folder, 'd', 'twinyard.db'), dataDir: join(folder, 'd'), access: { keys: 'off' } },
  });
  const path = join(folder, 'yard.db');
  expect(await configOf('--store', path, '--data-dir', 'd')).toMatchObject({ store: path, dataDir: resolve('d') });
  const file = join(folder, 'data.yaml');
  writeFileSync(file, 'store: yard.db\ndata_dir: elsewhere\n');
  expect(await configOf('-c', file, '--data-dir', 'd')).toMatchObject({ store: path, dataDir: resolve('d') });
  const idle = configOf('--replica', 'http://127.0.0.1:1', '--data-dir', 'd');
  await expect(idle).rejects.toThrow('--data-dir: is given for replicas without a store');
});

test('serve and keys open the same store for any notation of its address', async () => {
  for (const address of ['yard.db', 'sqlite:yard.db', 'sqlite://yard.db']) {
    const { store } = await configOf('--store', address);
    expect(store).toBe(resolve('yard.db'));
    expect(storeFile(address)).toBe(store);
  }
});

test('a Lease elects the control plane: the flag wins over the file, and needs a store', async () => {
  const file = join(folder, 'lease.yaml');
  writeFileSync(file, 'store: yard.db\nleader_lease: prod/twinyard\n');
  expect((await configOf('-c', file)).leaderLease).toMatchObject({ namespace: 'prod', name: 'twinyard' });
  expect((await configOf('-c', file, '--leader-lease', 'other')).leaderLease).toMatchObject({ name: 'other' });
  const idle = configOf('--replica', 'http://127.0.0.1:1', '--leader-lease', 'other');
  await expect(idle).rejects.toThrow('--leader-lease: is given without a control plane');
});

test('replicas of Ray Serve are followed for the default endpoint, and not beside those of Kubernetes', async () => {
  const target = { url: 'http://head:8265', app: 'chat', tokenFile: null, caFile: null };
  expect(await configOf('--ray-serve', 'http://head:8265,app=chat', '--engine', 'sglang')).toMatchObject({
    endpoints: [{ name: 'default', replicas: [], rayServe: { target, engine: 'sglang' } }],
    store: null,
  });
  const both = configOf('--ray-serve', 'http://head:8265', '--kube', 'service=vllm');
  await expect(both).rejects.toThrow('--ray-serve: is given beside --kube');
  await expect(configOf('--ray-serve', 'head')).rejects.toThrow(
    "--ray-serve head: 'head' is not the URL of a dashboard",
  );
});

test('replicas alone need no store', async () => {
  expect(await configOf('--replica', 'http://127.0.0.1:1')).toMatchObject({ store: null });
});

test('a file that names neither is refused', async () => {
  const file = join(folder, 'empty.yaml');
  writeFileSync(file, 'seed: 1\n');
  await expect(configOf('-c', file)).rejects.toThrow(/--replica: is required; name the replicas/);
});

test('a policy file sets the policy of the replicas, in place of the flags', async () => {
  const path = join(folder, 'tuned.yaml');
  writeFileSync(path, 'routing:\n  policy: chwbl\n  options: { load_factor: 1.5 }\nadmission: { policy: tier-shed }\n');
  const replica = ['--replica', 'http://127.0.0.1:1'];
  expect((await configOf(...replica, '--policy-config', path)).endpoints[0]!.policy).toMatchObject({
    name: 'chwbl',
    options: { load_factor: 1.5 },
    admission: { policy: 'tier-shed' },
  });
  const both = configOf(...replica, '--policy-config', path, '--routing-policy', 'lmetric');
  await expect(both).rejects.toMatchObject({ code: 'CONFLICTING_FLAGS', place: '--routing-policy' });
  writeFileSync(path, 'routing:\n  policy: chwbll\n');
  await expect(configOf(...replica, '--policy-config', path)).rejects.toMatchObject({
    place: `${path}:2:11 (routing.policy)`,
  });
  const missing = configOf(...replica, '--policy-config', join(folder, 'none.yaml'));
  await expect(missing).rejects.toMatchObject({
    place: '--policy-config',
    problem: expect.stringContaining('no such file'),
  });
});
