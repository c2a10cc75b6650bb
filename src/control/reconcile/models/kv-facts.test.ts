import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ResourceRecord } from '../../../store/resources/resource-record.js';
import { TINY_CONFIG } from '../../models/fake-model.fixture.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import { KvFacts } from './kv-facts.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-kv-'));
  writeFileSync(join(folder, 'config.json'), JSON.stringify(TINY_CONFIG));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const cluster = (memory_mib: number | null) =>
  ({ status: { accelerators: [{ product: 'NVIDIA L4', memory_mib }] } }) as unknown as ResourceRecord;
const spec = (gpus: number, variables: Record<string, unknown> = {}, product?: string) =>
  ({ model: { name: 'tiny' }, resources: { gpus, product }, variables }) as unknown as EndpointSpec;

test('have the context that fits on the GPUs of a replica', async () => {
  const kv = new KvFacts();
  const model = { path: folder, revision: 'r', facts: { folder } };
  const whole = (await kv.of(model, spec(1), cluster(24_576))) as { kv_cache_tokens: number };
  expect(whole).toMatchObject({ kv_cache_tokens: expect.any(Number), max_model_len: 2048 });
  // Once for each response: the files are not read again.
  rmSync(join(folder, 'config.json'));
  expect(await kv.of(model, spec(1), cluster(24_576))).toBe(whole);
  writeFileSync(join(folder, 'config.json'), JSON.stringify(TINY_CONFIG));
  const half = (await kv.of(model, spec(0.5), cluster(24_576))) as { kv_cache_tokens: number };
  expect(half.kv_cache_tokens).toBeLessThan(whole.kv_cache_tokens);
  const facts = await kv.of(model, spec(1, { gpu_memory_utilization: 0.5 }), cluster(24_576));
  expect(facts).toEqual(half);
});

test('are empty without GPU memory, and have the reason when they cannot be computed', async () => {
  const kv = new KvFacts();
  const model = { path: folder, revision: 'r', facts: { folder } };
  expect(await kv.of(model, spec(0), cluster(24_576))).toEqual({});
  expect(await kv.of(model, spec(1), cluster(null))).toEqual({});
  expect(await kv.of(model, spec(1), null)).toEqual({});
  expect(await kv.of(model, spec(1, {}, 'H100'), cluster(24_576))).toEqual({});
  expect(await kv.of(model, spec(1), cluster(1))).toEqual({ kv_problem: expect.stringContaining('GiB') });
});
