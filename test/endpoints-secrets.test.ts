import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { backUp } from '../src/store/backup/backup.js';
import { openStore } from '../src/store/open-store.js';
import { ControlApi, endpointOf, lineEngine } from './support/control-api.js';
import { EndpointYard } from './support/endpoint-yard.js';
import { afterwards } from './support/gateway-fixture.js';
import { expectNowhere } from './support/planted-secrets.js';

const TOKEN = 'hf_PlantedRegistryTokenVermilion0123456789';
const CREDENTIAL = 'sk-PlantedCredentialTourmaline0123456789';
const VARIABLE = 'PlantedEnvironmentAquamarine0123456789';
const WRONG = 'PlantedInTheWrongPlaceObsidian0123456789';

/** Proves knowledge of the secret without revealing it. */
const SCRIPT = [
  "const proof = require('crypto').createHash('sha512').update(process.env.SECRET).digest('hex')",
  "require('http').createServer((q, a) => a.end(proof)).listen(process.argv[1], '127.0.0.1')",
].join(';');

/** Records every credential it receives, and refuses it. */
async function strictServer(): Promise<{ url: string; heard: Set<string | undefined> }> {
  const heard = new Set<string | undefined>();
  const server = createServer(({ headers }, response) => {
    heard.add(headers.authorization);
    // A careless server repeats it.
    response.writeHead(401, { 'x-error-message': `${headers.authorization} is not good` });
    response.end(JSON.stringify({ error: `${headers.authorization} is not good` }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterwards(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

/** Every file below a folder, as text. */
function filesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    files.map(({ name, parentPath }) => {
      const path = join(parentPath, name);
      return [relative(folder, path), readFileSync(path, 'latin1')];
    }),
  );
}

test('secrets are nowhere but where they are sent: not in the store, backup, logs, responses, events or the audit log', async () => {
  const { heard, url } = await strictServer();
  const yard = new EndpointYard();
  await yard.start();
  const api = new ControlApi(yard);
  const resources = (replicas: number) => [
    { kind: 'ModelRegistry', metadata: { name: 'hub' }, spec: { type: 'hugging-face', url, token: TOKEN } },
    {
      kind: 'ExternalEndpoint',
      metadata: { name: 'elsewhere' },
      spec: { upstreams: [{ name: 'one', url, credential: CREDENTIAL, models: { x: 'y' } }] },
    },
    lineEngine('line', SCRIPT),
    endpointOf('chat', 'line', { replicas, secret_env: { SECRET: VARIABLE } }),
    { kind: 'ApiKey', metadata: { name: 'k' }, spec: { role: 'viewer' } },
  ];
  await api.apply(...resources(1));
  const { replicas } = await api.untilPhase('chat', 'Running');
  const [{ url: replica }] = replicas as unknown as [{ url: string }];
  const proof = createHash('sha512').update(VARIABLE).digest('hex');
  expect(await (await fetch(replica)).text()).toBe(proof);
  const question = { method: 'POST', body: JSON.stringify({ model: 'x', messages: [] }) };
  while (!heard.has(`Bearer ${TOKEN}`) || !heard.has(`Bearer ${CREDENTIAL}`)) {
    await (await fetch(`${yard.serve.url}/v1/chat/completions`, question)).text();
  }

  const responses: Record<string, string> = {};
  const note = async (method: string, path: string, body?: string) => {
    const { status, text } = await api.ask(method, path, body);
    responses[`${method} ${path} ${status}`] = text;
    return text;
  };
  const { key } = JSON.parse((await api.ask('POST', 'workspaces/default/apikeys/k/issue')).text) as { key: string };
  for (const kind of ['modelregistries', 'externalendpoints', 'endpoints', 'apikeys']) await note('GET', kind);
  const body = (changed: readonly object[]) =>
    changed.map((one) => JSON.stringify({ apiVersion: 'twinyard/v1', ...one })).join('\n---\n');
  expect(await note('POST', 'apply?dry_run=true', body(resources(2)))).toContain('***');
  // Written where no secret belongs.
  await note('POST', 'apply', body([{ kind: 'ModelRegistry', metadata: { name: 'r' }, spec: { tokn: WRONG } }]));
  // Another change came first.
  const { metadata } = await api.endpoint('chat');
  await api.apply(endpointOf('chat', 'line', { replicas: 1, secret_env: { SECRET: `${VARIABLE}2` } }));
  const late = { ...endpointOf('chat', 'line', { replicas: 2, secret_env: { SECRET: VARIABLE } }) };
  const versioned = { ...late, metadata: { name: 'chat', resource_version: metadata.resource_version } };
  expect(await note('POST', 'apply', body([versioned]))).toContain('RESOURCE_CONFLICT');
  await api.untilPhase('chat', 'Running');
  expect(await note('GET', 'audit?limit=1000')).toContain('"issue"');
  await note('GET', 'events?limit=1000');
  await note('GET', 'workspaces/default/endpoints/chat/logs');

  const address = join(yard.folder, 'yard.db');
  const store = await openStore(address);
  await backUp(address, store, join(yard.folder, 'monday.backup'));
  await store.close();
  const files = filesIn(yard.folder);
  expect(Object.keys(files)).toEqual(expect.arrayContaining(['yard.db', 'yard.db-wal', 'monday.backup']));
  const places = { ...files, ...responses, 'what serve said': yard.serve.said() };
  for (const secret of [TOKEN, CREDENTIAL, VARIABLE]) expectNowhere(places, `ty_id_${secret}`);
  expectNowhere(places, key);
  expectNowhere({ ...files, 'what serve said': yard.serve.said() }, `ty_id_${WRONG}`);
});
