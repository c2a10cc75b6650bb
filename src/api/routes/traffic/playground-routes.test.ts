import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import type { GatewayConfig } from '../../../gateway/config/gateway-config.js';
import { FakeEngine, startGateway, until } from '../../../gateway/fake-engine.fixture.js';
import { makeCertificate } from '../../../gateway/server/certificate.fixture.js';
import { serveApi } from '../../api-server.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-client-port-'));
const files = makeCertificate(folder, 'gateway.example');
afterAll(() => rmSync(folder, { recursive: true }));
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function modelsOf(tls: GatewayConfig['listen']['tls']): Promise<{ status: number; text: string }> {
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  const gateway = await startGateway([engine], { listen: { host: '127.0.0.1', port: 0, tls } });
  opened.push(() => gateway.close(0));
  gateway.api = serveApi(gateway);
  await until(() => gateway.isReady);
  const headers = { authorization: `Bearer ${gateway.adminToken}` };
  const response = await fetch(`${gateway.adminUrl}/api/v1/playground/models`, { headers });
  return { status: response.status, text: await response.text() };
}

it.skipIf(files === null)('reaches a port whose certificate no CA has signed', async () => {
  const { status, text } = await modelsOf(files!);
  expect([status, JSON.parse(text)]).toMatchObject([200, { items: [{ name: 'm' }] }]);
});

it.skipIf(files === null)('says that the port cannot be reached where clients need a certificate', async () => {
  const { status, text } = await modelsOf({ ...files!, clientCa: files!.cert });
  expect(status).toBeGreaterThanOrEqual(500);
  expect(text).toContain('the port for clients cannot be reached from here');
});
