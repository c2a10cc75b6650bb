import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeRay } from '../src/control/runner/ray/fake-ray.fixture.js';
import { RayRunner } from '../src/control/runner/ray/ray-runner.js';
import { type CertificateFiles, makeCertificate } from '../src/gateway/server/certificate.fixture.js';
import type { RayRequest } from '../src/ray/ray-transport.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-ray-access-'));
const certificate = makeCertificate(folder, 'localhost');

describe.skipIf(certificate === null)('a dashboard behind a TLS proxy', () => {
  const ray = new FakeRay();
  let server: Server;
  let token = 'first-token';
  let url = '';

  beforeAll(async () => {
    const { cert, key } = certificate as CertificateFiles;
    server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, async (request, response) => {
      if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end();
      const path = request.url!.slice('/ray'.length);
      const { body, status } = await ray.send({ method: request.method, path } as RayRequest);
      return response.writeHead(status).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/ray`;
  });

  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  });

  const open = (change: object) =>
    RayRunner.open({
      cluster: 'lab',
      folder: join(folder, 'state'),
      settings: { ray: { url, token, caFile: certificate!.cert, ...change } },
      timing: { idleMs: 60_000 },
    });

  test('is reached with the token, under a path, and with its own certificate', async () => {
    const runner = await open({});
    expect(await runner.discover()).toMatchObject({ cpus: 16, gpus: { length: 4 }, problems: [] });
    await runner.close();
  });

  test('is not reached without its certificate, or with a file that is none', async () => {
    await expect(open({ caFile: null })).rejects.toMatchObject({ code: 'RAY_NOT_REACHED' });
    await expect(open({ caFile: join(folder, 'none.pem') })).rejects.toMatchObject({
      ...{ code: 'RAY_FILE', message: expect.stringContaining("check 'ca_file'") as string },
    });
  });

  test('refuses another token, and takes a new one without being opened again', async () => {
    await expect(open({ token: 'another' })).rejects.toMatchObject({ code: 'RAY_TOKEN' });
    const runner = await open({});
    token = 'second-token';
    await expect(runner.discover()).rejects.toMatchObject({ code: 'RAY_TOKEN' });
    runner.configure({ ray: { url, token, caFile: certificate!.cert } });
    expect(await runner.discover()).toMatchObject({ cpus: 16 });
    await runner.close();
  });
});
