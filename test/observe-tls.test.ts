import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, expect, test } from 'vitest';
import { makeCertificate } from '../src/gateway/server/certificate.fixture.js';
import { fakeServer, sendStream, stream } from '../src/observe/drive/fake-server.fixture.js';
import { CLI } from './support/cli.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-observe-tls-'));
const files = makeCertificate(folder, 'localhost');
afterAll(() => rmSync(folder, { recursive: true }));

/** Observes a server behind TLS whose certificate comes from an authority of its own. */
async function observed(env: Record<string, string>): Promise<{ code: number; stdout: string; stderr: string }> {
  const plain = await fakeServer((request, response) => sendStream(response, stream(request)));
  const secrets = { cert: readFileSync(files!.cert), key: readFileSync(files!.key) };
  const tls = createServer(secrets, (socket) => {
    const inner = connect(Number(new URL(plain.url).port), '127.0.0.1');
    for (const end of [socket, inner]) end.on('error', () => {});
    socket.pipe(inner).pipe(socket);
  });
  tls.on('tlsClientError', () => {});
  tls.listen(0, 'localhost');
  await once(tls, 'listening');
  const url = `https://localhost:${(tls.address() as AddressInfo).port}`;
  const args = ['observe', '--server-url', url, '--model', 'tiny', '--rate', '1000', '--num-requests', '3'];
  const child = spawn(process.execPath, [CLI, ...args, '--max-lateness-ms', '0'], { env: { ...process.env, ...env } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const [code] = await once(child, 'close');
  tls.close();
  return { code, stdout, stderr };
}

test.skipIf(files === null)('a server behind TLS is observed if its authority is known', async () => {
  const { code, stdout } = await observed({ NODE_EXTRA_CA_CERTS: files!.cert });
  expect(code).toBe(0);
  expect(JSON.parse(stdout).requests).toMatchObject({ completed: 3, problems: {} });
});

test.skipIf(files === null)('and not if it is not', async () => {
  const { code, stderr } = await observed({});
  expect(code).toBe(1);
  expect(stderr).toContain('the list of models: no connection (DEPTH_ZERO_SELF_SIGNED_CERT)');
});
