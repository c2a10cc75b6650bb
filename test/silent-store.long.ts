import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeEngine } from '../src/gateway/fake-engine.fixture.js';
import { POSTGRES_PROGRAMS, startPostgres } from '../src/store/postgres.fixture.js';
import { startSilentProxy } from '../src/store/silent-proxy.fixture.js';
import { afterwards } from './support/gateway-fixture.js';
import { serveProcess } from './support/serve-process.js';

test.skipIf(POSTGRES_PROGRAMS === null)(
  'a gateway whose store has fallen silent refuses requests as soon as it stops, completes those under way, and ends',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-silent-'));
    afterwards(async () => rmSync(folder, { recursive: true }));
    const database = await startPostgres();
    afterwards(() => database.stop());
    const address = await database.freshUrl();
    const proxy = await startSilentProxy(address);
    afterwards(() => proxy.close());
    const engine = await FakeEngine.start();
    afterwards(() => engine.kill());
    engine.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[]}\n\n');
    };
    const file = join(folder, 'twinyard.yaml');
    const config = {
      store: proxy.url(address),
      data_dir: folder,
      access: { keys: 'off' },
      replicas: [{ url: engine.url }],
    };
    writeFileSync(file, JSON.stringify(config));
    const { child, ended, said, url } = await serveProcess(['-c', file]);
    const ask = () =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        body: '{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}',
      });
    const [stream, { response }] = await Promise.all([ask(), engine.got(1)]);
    // The control plane looks at its lease every few seconds.
    await proxy.fallSilent();
    child.kill('SIGTERM');
    while (!said().includes('stopping')) await new Promise((resolve) => setImmediate(resolve));
    expect((await ask()).status).toBe(503);
    response.end('data: [DONE]\n\n');
    expect(await stream.text()).toBe('data: {"choices":[]}\n\ndata: [DONE]\n\n');
    expect(await ended).toEqual([0, null]);
    expect(said()).toContain('the store does not respond: stopping without it');
  },
);
