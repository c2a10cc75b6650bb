import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GATEWAY_DEFAULTS } from '../config/gateway-config.js';
import { FakeEngine } from '../fake-engine.fixture.js';
import { LiveReplica } from '../fleet/replica/live-replica.js';
import { scrape } from './scrape.js';

let engine: FakeEngine;
const replicas: LiveReplica[] = [];
beforeEach(async () => {
  engine = await FakeEngine.start();
});
afterEach(async () => {
  await Promise.all(replicas.splice(0).map((replica) => replica.close()));
  await engine.kill();
});

function scraped(name = 'vllm') {
  const replica = new LiveReplica({ id: 'r', url: engine.url, engine: name, models: null }, GATEWAY_DEFAULTS);
  replicas.push(replica);
  return scrape(replica, 5000, () => 77);
}

describe('scrape', () => {
  it('returns the reported load with the time of the scrape', async () => {
    engine.metrics = 'vllm:num_requests_running 3\nvllm:num_requests_waiting 1\nvllm:kv_cache_usage_perc 0.5\n';
    expect(await scraped()).toMatchObject({ atUs: 77, running: 3, waiting: 1, kvUsed: 0.5, missing: [] });
  });

  it('lists missing signals and reports them as NaN, not 0', async () => {
    engine.metrics = 'vllm:num_requests_running 3\n';
    expect(await scraped()).toMatchObject({
      running: 3,
      waiting: Number.NaN,
      kvUsed: Number.NaN,
      missing: ['waiting', 'kvUsed'],
    });
  });

  it('throws when there are no metrics', async () => {
    engine.pages.set('/metrics', { status: 404, text: 'no' });
    await expect(scraped()).rejects.toThrow('/metrics returned status 404');
    await engine.kill();
    await expect(scraped()).rejects.toThrow();
    await engine.listen(0);
  });

  it('stops reading a response that is too large', async () => {
    engine.pages.set('/metrics', { status: 200, text: '#'.repeat(9 * 1024 * 1024) });
    await expect(scraped()).rejects.toThrow('larger than 8388608 bytes');
  });

  it('reads the slots of llama.cpp, and reports the rest without them', async () => {
    engine.metrics = 'llamacpp:requests_processing 1\nllamacpp:requests_deferred 0\n';
    engine.pages.set('/slots', { status: 200, text: '[{"is_processing":true},{"is_processing":false}]' });
    expect(await scraped('llama-cpp')).toMatchObject({ running: 1, kvUsed: 0.5, missing: [] });
    for (const page of [
      { status: 501, text: 'disabled' },
      { status: 200, text: 'no JSON' },
      { status: 200, text: '[null]' },
    ]) {
      engine.pages.set('/slots', page);
      expect(await scraped('llama-cpp')).toMatchObject({ running: 1, kvUsed: Number.NaN, missing: ['kvUsed'] });
    }
  });
});
