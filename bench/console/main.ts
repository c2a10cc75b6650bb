import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { POSTGRES_PROGRAMS, startPostgres } from '../../src/store/postgres.fixture.js';
import { launchBrowser } from '../../test/browser/launch-browser.js';
import { BenchTable } from '../bench-table.js';
import { ControlServer } from '../control/control-server.js';
import { interactiveRow, loggedIn, scrollRow, watchedRows } from './browser-rows.js';
import { ENDPOINTS, FIRST_ENDPOINT, fillStore, KEYS, REQUESTS } from './filled-store.js';
import { listRows } from './list-rows.js';

/**
 * The console and its API: lists of a store with many endpoints, keys and requests, in SQLite and in PostgreSQL where it is installed,
 * and in a real browser the first page, scrolling, and what it costs the gateway to be watched. Arguments: which parts (all by default).
 */
const PARTS = ['lists', 'postgres', 'first', 'scroll', 'watched'];
const chosen = process.argv.length > 2 ? process.argv.slice(2) : PARTS;
const unknown = chosen.filter((part) => !PARTS.includes(part));
if (unknown.length > 0) {
  process.stderr.write(`usage: bench:console -- [parts], parts: ${PARTS.join(', ')}\n`);
  process.exit(1);
}
const BACKENDS = 4;

const table = new BenchTable();
const folder = mkdtempSync(join(tmpdir(), 'twinyard-bench-console-'));
const started: ChildProcess[] = [];

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Backends that respond at once. */
async function backends(): Promise<string[]> {
  const urls: string[] = [];
  for (let i = 0; i < BACKENDS; i++) {
    const port = await freePort();
    const file = fileURLToPath(new URL('../gateway/fast-backend.js', import.meta.url));
    started.push(spawn(process.execPath, [file, String(port)], { stdio: 'ignore' }));
    urls.push(`http://127.0.0.1:${port}`);
  }
  return urls;
}

/** A server on a store of a large installation. */
async function filledServer(database: string, data: string, store: string): Promise<ControlServer> {
  const beganAt = performance.now();
  const first = await ControlServer.start(data, store);
  await first.call('POST', '/api/v1/apply', JSON.stringify(FIRST_ENDPOINT));
  await first.stop();
  await fillStore(store);
  const filled = `${((performance.now() - beganAt) / 1000).toFixed(0)} s`;
  const what = `${ENDPOINTS} endpoints, ${KEYS} keys and ${REQUESTS} requests`;
  table.report(`${database} is filled with ${what}`, filled, '', null);
  return ControlServer.start(data, store);
}

async function postgresPart(): Promise<void> {
  if (POSTGRES_PROGRAMS === null) return table.report('lists in PostgreSQL', 'not installed', '', null);
  const postgres = await startPostgres();
  try {
    const server = await filledServer('PostgreSQL', join(folder, 'postgres'), await postgres.freshUrl());
    await listRows(table, server, 'PostgreSQL, ').finally(() => server.stop());
  } finally {
    await postgres.stop();
  }
}

async function manyParts(): Promise<void> {
  const server = await filledServer('SQLite', folder, join(folder, 'many.db'));
  try {
    if (chosen.includes('lists')) await listRows(table, server);
    if (!chosen.includes('scroll')) return;
    const browser = await launchBrowser();
    if (browser === null) return table.report('scrolling', 'no browser', '', null);
    await scrollRow(table, await loggedIn(browser, server), server);
    await browser.close();
  } finally {
    await server.stop();
  }
}

async function fleetParts(): Promise<void> {
  const browser = await launchBrowser();
  if (browser === null) return table.report('first page, watched', 'no browser', '', null);
  const replicas = (await backends()).flatMap((url) => ['--replica', url]);
  const server = await ControlServer.start(join(folder, 'fleet'), join(folder, 'fleet.db'), 0, [...replicas]);
  try {
    const key = (await issued(server)).key;
    const load = async () => {
      await fetch(`http://127.0.0.1:${server.port}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }], stream: true }),
      }).then((response) => response.text());
    };
    await load();
    if (chosen.includes('first')) await interactiveRow(table, browser, server);
    if (chosen.includes('watched')) await watchedRows(table, browser, server, load);
  } finally {
    await server.stop();
    await browser.close();
  }
}

async function issued(server: ControlServer): Promise<{ key: string }> {
  const body = JSON.stringify({ apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name: 'bench' }, spec: {} });
  await server.call('POST', '/api/v1/workspaces/default/apikeys', body);
  return JSON.parse(await server.call('POST', '/api/v1/workspaces/default/apikeys/bench/issue')) as { key: string };
}

try {
  if (chosen.includes('lists') || chosen.includes('scroll')) await manyParts();
  if (chosen.includes('postgres')) await postgresPart();
  if (chosen.includes('first') || chosen.includes('watched')) await fleetParts();
  table.print();
} finally {
  for (const child of started) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
