import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { ChangeFeed } from '../control/change-feed.js';
import type { ControlHost } from '../control/control-plane.js';
import { ControlStore } from '../control/store/control-store.js';
import { installDefaults } from '../control/store/install-defaults.js';
import type { KeyRole } from '../store/keys/key-record.js';
import { openStore, type Store } from '../store/open-store.js';
import { SecretBox } from '../store/resources/secrets.js';
import type { Caller } from './access/caller.js';
import { ApiHost } from './api-host.js';
import { FakeRunner } from './fake-runner.fixture.js';
import { respond } from './respond.js';

/** Those of the present test. */
export let host: ControlHost;
let store: Store;
export let runner: FakeRunner;
/** The replicas that were drained: `workspace/endpoint/id`. */
export let drained: string[] = [];

/** Serves each test of a file from its own store. */
export function withFakeApi(): void {
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'twinyard-api-'));
    store = await openStore(':memory:');
    const control = new ControlStore(store, SecretBox.open(join(folder, 'secrets.key')));
    await installDefaults(control);
    runner = new FakeRunner();
    drained = [];
    host = {
      ...{ store: control, feed: await ChangeFeed.open(control.resources), runner },
      drain: (endpoint, replica) => drained.push(`${endpoint.workspace}/${endpoint.name}/${replica}`) > 0,
    };
  });
  afterEach(async () => {
    host.feed.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });
}

/** From now on parts of the host are others. */
export function exchange(parts: Partial<ControlHost>): void {
  host = { ...host, ...parts };
}

export const caller = (role: KeyRole, workspaces: Record<string, KeyRole> = {}): Caller => ({
  name: 'alice',
  role,
  workspaces: new Map(Object.entries(workspaces)),
});
export const ADMIN = caller('admin');

interface Sent {
  readonly body?: unknown;
  readonly ifMatch?: string;
  readonly type?: string;
  readonly lastEventId?: string;
  readonly as?: Caller;
  readonly signal?: AbortSignal;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
export type Answered = { status: number; body: Record<string, any>; headers?: readonly string[] };

/** @param line `GET /api/v1/kinds` */
export async function ask(line: string, sent: Sent = {}): Promise<Answered> {
  return (await answered(line, sent)) as Answered;
}

/** The events of a stream. */
export async function streamOf(
  path: string,
  given: AbortSignal | Pick<Sent, 'lastEventId'> = {},
): Promise<AsyncIterable<string>> {
  const response = await answered(`GET ${path}`, given instanceof AbortSignal ? { signal: given } : given);
  return (response as { stream: AsyncIterable<string> }).stream;
}

function answered(line: string, { as = ADMIN, body, ifMatch, lastEventId, signal, type }: Sent) {
  const [method, url] = line.split(' ') as [string, string];
  const [path, query] = url.split('?') as [string, string?];
  const api = new ApiHost({ store, gateway: null, control: Promise.resolve({ host }) });
  return respond(api, as, {
    method,
    path,
    query: new URLSearchParams(query),
    header: (name) => ({ 'if-match': ifMatch, 'last-event-id': lastEventId, 'content-type': type })[name],
    body: async () => (typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body)),
    signal: signal ?? new AbortController().signal,
  });
}

export const endpoint = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'twinyard/v1',
  kind: 'Endpoint',
  metadata: { name: 'chat', ...metadata },
  spec: { engine: { name: 'emulator' }, model: { name: 'qwen/qwen3-14b' }, ...spec },
});
export const ENDPOINTS = '/api/v1/workspaces/default/endpoints';
export const CHAT = `${ENDPOINTS}/chat`;
