import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type BenchTable, seconds } from '../bench-table.js';
import { ControlServer } from './control-server.js';
import { hostileDocumentRows } from './hostile-documents.js';

const ENDPOINTS = 10_000;
const AT_ONCE = 500;
const MOST_KB = 20;
const MOST_STALL_MS = 50;
const MOST_START_MS = 5000;
const MOST_PAGE_MS = 100;
const IDLE_MS = 3000;
const POLL_MS = 100;
const PAGES = 7;

const endpoint = (name: string, more: object) =>
  JSON.stringify({
    apiVersion: 'twinyard/v1',
    kind: 'Endpoint',
    metadata: { name, labels: { team: 'a' } },
    spec: { engine: { name: 'emulator' }, model: { name: 'qwen/qwen3-14b' }, ...more },
  });

/** The control plane with thousands of paused endpoints and one that serves, over one kind of store. */
export async function scaleRows(table: BenchTable, kind: string, store: string | null): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-bench-control-'));
  const report = (what: string, measured: string, bound: string, holds: boolean | null) =>
    table.report(`${kind}: ${what}`, measured, bound, holds);
  let server = await ControlServer.start(folder, store);
  try {
    await server.call('POST', '/api/v1/apply', endpoint('serves', { replicas: 1, variables: { speed: 1000 } }));
    const key = await issuedKey(server);
    await served(server, key);
    if (store === null) await hostileDocumentRows(table, server);
    const empty = await server.memory();
    await applyAll(report, server);
    await settled(server);
    const kB = ((await server.memory()) - empty) / 1000 / ENDPOINTS;
    report(`memory of a paused endpoint among ${ENDPOINTS}`, `${kB.toFixed(1)} kB`, `<= ${MOST_KB} kB`, kB <= MOST_KB);
    await pageRow(report, server);
    await server.stop();
    const began = performance.now();
    // The same port: addresses are part of stored statuses.
    server = await ControlServer.start(folder, store, server.port);
    const acceptsMs = performance.now() - began;
    await served(server, key);
    const servesMs = performance.now() - began;
    const what = `start with ${ENDPOINTS} resources until changes are accepted and an endpoint serves`;
    const measured = `${seconds(acceptsMs)}, ${seconds(servesMs)}`;
    report(what, measured, `<= ${MOST_START_MS / 1000} s`, servesMs <= MOST_START_MS);
  } finally {
    await server.call('DELETE', '/api/v1/workspaces/default/endpoints/serves').catch(() => {});
    while ((await server.send('GET', '/api/v1/workspaces/default/endpoints/serves')).ok) await sleep(POLL_MS);
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

type Report = BenchTable['report'];

/** The longest time that a small request of another process took during each apply, and during none. */
async function applyAll(report: Report, server: ControlServer): Promise<void> {
  const prober = fork(fileURLToPath(new URL('../gateway/prober.js', import.meta.url)), [String(server.port)]);
  const worst = async () => {
    prober.send('worst');
    return (await once(prober, 'message'))[0] as number;
  };
  try {
    await once(prober, 'message');
    await sleep(IDLE_MS / 10);
    await worst();
    await sleep(IDLE_MS);
    report('longest delay of a request beside no change', `${(await worst()).toFixed(0)} ms`, '', null);
    let [stallMs, turnMs, longestMs] = [0, 0, 0];
    for (let from = 0; from < ENDPOINTS; from += AT_ONCE) {
      const names = Array.from({ length: AT_ONCE }, (_, i) => `e${from + i}`);
      const text = names.map((name) => endpoint(name, { replicas: 0 })).join('\n');
      const began = performance.now();
      const turn = await server.longestTurn(() => server.call('POST', '/api/v1/apply', text));
      longestMs = Math.max(longestMs, performance.now() - began);
      turnMs = Math.max(turnMs, turn);
      stallMs = Math.max(stallMs, await worst());
    }
    const during = `during ${ENDPOINTS / AT_ONCE} applies of ${AT_ONCE} endpoints`;
    const bound = `<= ${MOST_STALL_MS} ms`;
    report(`longest turn of the event loop ${during}`, `${turnMs.toFixed(0)} ms`, bound, turnMs <= MOST_STALL_MS);
    report(`longest delay of a request ${during}`, `${stallMs.toFixed(0)} ms`, bound, stallMs <= MOST_STALL_MS);
    report('the slowest of these applies', seconds(longestMs), '', null);
  } finally {
    prober.kill();
  }
}

async function pageRow(report: Report, server: ControlServer): Promise<void> {
  for (const fields of ['', '&fields=metadata.name,status.phase']) {
    const times: number[] = [];
    let bytes = 0;
    for (let i = 0; i < PAGES; i++) {
      const began = performance.now();
      bytes = (await server.call('GET', `/api/v1/endpoints?limit=${AT_ONCE}${fields}`)).length;
      times.push(performance.now() - began);
    }
    const ms = times.sort((a, b) => a - b)[PAGES >> 1]!;
    const what = `page of ${AT_ONCE} of ${ENDPOINTS}${fields === '' ? '' : ', name and phase'}`;
    report(what, `${ms.toFixed(0)} ms, ${Math.round(bytes / 1000)} kB`, `<= ${MOST_PAGE_MS} ms`, ms <= MOST_PAGE_MS);
  }
}

/** Resolves when every endpoint has been reconciled. */
async function settled(server: ControlServer): Promise<void> {
  for (let cursor = ''; ; ) {
    const text = await server.call('GET', `/api/v1/endpoints?limit=1000${cursor}`);
    const { items, next } = JSON.parse(text) as { items: { status?: object }[]; next: string | null };
    if (items.some(({ status }) => status === undefined)) {
      await sleep(POLL_MS);
      continue;
    }
    if (next === null) return;
    cursor = `&cursor=${next}`;
  }
}

/** A key of a client: a store that is named requires one. */
async function issuedKey(server: ControlServer): Promise<string> {
  const key = { apiVersion: 'twinyard/v1', kind: 'ApiKey', metadata: { name: 'bench' }, spec: {} };
  await server.call('POST', '/api/v1/apply', JSON.stringify(key));
  const issued = await server.call('POST', '/api/v1/workspaces/default/apikeys/bench/issue');
  return (JSON.parse(issued) as { key: string }).key;
}

/** Resolves when the endpoint with a replica responds. */
async function served({ port }: ControlServer, key: string): Promise<void> {
  const body = JSON.stringify({ model: 'qwen/qwen3-14b', prompt: 'x', max_tokens: 1 });
  const url = `http://127.0.0.1:${port}/workspace/default/endpoint/serves/v1/completions`;
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  for (;;) {
    const response = await fetch(url, { method: 'POST', headers, body });
    await response.arrayBuffer();
    if (response.ok) return;
    await sleep(POLL_MS);
  }
}
