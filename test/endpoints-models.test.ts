import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { FakeHub } from '../src/control/models/fake-hub.fixture.js';
import { safetensors, tinyModel } from '../src/control/models/fake-model.fixture.js';
import { ControlApi, endpointOf, lineEngine } from './support/control-api.js';
import { EndpointYard } from './support/endpoint-yard.js';
import { afterwards } from './support/gateway-fixture.js';

const HELD_AT = 200_000;
const PIECE = 2000;
const MODEL = {
  ...tinyModel('seed'),
  'model.safetensors': safetensors({ weight: { dtype: 'BF16', shape: [300, 500] } }),
};
const WEIGHTS = MODEL['model.safetensors'];
/** Reports the number of bytes of weights it was given. */
const SCRIPT = [
  "const { size } = require('fs').statSync(process.argv[2] + '/model.safetensors')",
  "require('http').createServer((q, a) => a.end(String(size))).listen(process.argv[1], '127.0.0.1')",
].join(';');

async function opened() {
  const hub = await FakeHub.start();
  afterwards(() => hub.stop());
  hub.put('acme/tiny', 'main', MODEL);
  const yard = new EndpointYard();
  await yard.start();
  const api = new ControlApi(yard);
  const begin = () =>
    api.apply(
      { kind: 'ModelRegistry', metadata: { name: 'hub' }, spec: { type: 'hugging-face', url: hub.url } },
      lineEngine('line', SCRIPT),
      endpointOf('chat', 'line', { model: { registry: 'hub', name: 'acme/tiny' }, replicas: 1 }),
    );
  const weightsAsked = () => hub.requests.filter(({ server }) => server === 'cdn');
  return { hub, yard, api, begin, weightsAsked };
}

/** The first bytes of the weights, bit by bit, and then nothing. */
function held(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': WEIGHTS.length });
  let sent = 0;
  const timer = setInterval(() => {
    response.write(WEIGHTS.subarray(sent, sent + PIECE));
    sent += PIECE;
    if (sent >= HELD_AT) clearInterval(timer);
  }, 20);
  response.on('close', () => clearInterval(timer));
}

test('a download reports its progress, and resumes after kill -9', async () => {
  const { api, begin, hub, weightsAsked, yard } = await opened();
  hub.once('/blobs/', held);
  await begin();
  const { download, message } = await api.until('chat', (status) => {
    return status.phase === 'ModelDownloading' && (status.download?.bytes ?? 0) > PIECE;
  });
  expect(download!.total).toBeGreaterThanOrEqual(WEIGHTS.length);
  expect(message).toMatch(/^\d+ % of 0\.3 MiB$/);
  await yard.killServe();
  await yard.start();
  const { replicas } = await api.untilPhase('chat', 'Running');
  const [first, second, ...more] = weightsAsked().map(({ headers }) => headers.range);
  expect([first, second, more]).toEqual([undefined, expect.stringMatching(/^bytes=\d+-$/), []]);
  expect(Number(/\d+/.exec(second!)![0])).toBeGreaterThan(PIECE);
  const [{ url }] = replicas as unknown as [{ url: string }];
  expect(await (await fetch(url)).text()).toBe(String(WEIGHTS.length));
  expect((await api.endpoint('chat')).status).toMatchObject({ model: { layers: 2, kv_heads: 2, dtype: 'bfloat16' } });
});

test('wrong bytes are reported as a failure, and are fetched again later', async () => {
  const { api, begin, hub, weightsAsked } = await opened();
  let isWrong = true;
  hub.faults.push(({ server }, response) => {
    if (server !== 'cdn' || !isWrong) return false;
    response.writeHead(200, { 'content-length': WEIGHTS.length }).end(Buffer.alloc(WEIGHTS.length));
    return true;
  });
  await begin();
  const { message } = await api.untilPhase('chat', 'Failed');
  expect(message).toMatch(
    /^0 of 1 replicas are ready: .*model\.safetensors.*: its sha256 does not match the registry's;/,
  );
  isWrong = false;
  await api.untilPhase('chat', 'Running');
  expect(weightsAsked().length).toBeGreaterThan(1);
});
