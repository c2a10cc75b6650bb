import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openStore, type Store } from '../../store/open-store.js';
import { SecretBox } from '../../store/resources/secrets.js';
import { ModelCache } from '../models/cache/model-cache.js';
import { readResources } from '../resources/read-resources.js';
import type { Resource } from '../resources/resource.js';
import { ControlStore } from '../store/control-store.js';
import { installDefaults } from '../store/install-defaults.js';
import { EndpointReconciler } from './endpoint/endpoint-reconciler.js';
import { ReplicaDrainer } from './endpoint/replica-drainer.js';
import { FakeRoutes } from './fake-routes.fixture.js';
import { FakeRunners } from './fake-runners.fixture.js';
import { FakeTiming, settled } from './fake-timing.fixture.js';
import { ModelFetches } from './models/model-fetches.js';
import { Reconcilers } from './queue/reconcilers.js';

const CHAT = { kind: 'Endpoint', workspace: 'default', name: 'chat' };

/** The reconciler of endpoints over a real store, with fakes for clusters, gateway and time. */
export class FakePlane {
  readonly faults: unknown[] = [];
  readonly routes = new FakeRoutes();
  endpoints!: EndpointReconciler;
  #all!: Reconcilers;
  #unwatch: () => void = () => {};
  #names = 0;

  private constructor(
    readonly folder: string,
    readonly opened: Store,
    readonly store: ControlStore,
    readonly timing: FakeTiming,
    readonly runners: FakeRunners,
  ) {}

  static async open(): Promise<FakePlane> {
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-plane-'));
    const opened = await openStore(join(folder, 'yard.db'));
    const timing = new FakeTiming();
    const store = new ControlStore(opened, SecretBox.open(join(folder, 'secrets.key')));
    await installDefaults(store);
    const plane = new FakePlane(folder, opened, store, timing, new FakeRunners(timing));
    onTestFinished(async () => {
      await plane.#all.close();
      await opened.close();
      rmSync(folder, { recursive: true });
    });
    await plane.restart();
    return plane;
  }

  /** A new control plane, which knows only what is stored and what runs. */
  async restart(): Promise<void> {
    await this.#all?.close();
    this.#unwatch();
    const { routes, runners, store, timing } = this;
    const enqueue = (workspace: string, name: string) => this.#all.enqueue({ kind: 'Endpoint', workspace, name });
    const onFailure = (_: string, error: unknown) => this.faults.push(error);
    const draining = new ReplicaDrainer({ runners, routes, timing, stopped: enqueue, onFailure });
    const cache = await ModelCache.open(join(this.folder, 'models'));
    const fetches = new ModelFetches({ cache, timing, changed: (key) => this.#all.enqueueKey(key) });
    this.endpoints = new EndpointReconciler({
      ...{ store, runners, routes, draining, fetches, timing, self: ['twinyard'] },
      urlOf: (workspace, name) => `http://gateway/${workspace}/${name}`,
      randomName: () => `r${++this.#names}`,
    });
    const onFault = (error: unknown) => this.faults.push(error);
    this.#all = new Reconcilers({ store, timing, onFault, reconcilers: [this.endpoints] });
    this.#unwatch = runners.watch(({ replica }) => enqueue(replica.workspace, replica.endpoint));
    for (const { endpoint, workspace } of await runners.list()) enqueue(workspace, endpoint);
    await this.#all.start();
    await this.rest();
  }

  /** Resolves when nothing is left to do without time or events. */
  async rest(): Promise<void> {
    for (let i = 0; i < 4; i++) {
      await settled();
      await this.#all.settled('Endpoint');
    }
  }

  async pass(ms: number): Promise<void> {
    await this.timing.pass(ms);
    await this.rest();
  }

  async apply(text: string): Promise<void> {
    await this.store.apply('alice', readResources(text, 'f.yaml'), { isAdmin: true });
    await this.rest();
  }

  /** An endpoint `chat` of emulated engines. */
  chat(more: string): Promise<void> {
    const head = 'apiVersion: twinyard/v1\nkind: Endpoint\nmetadata: {name: chat}\nspec:\n  engine: {name: emulator}\n';
    return this.apply(`${head}  model: {name: qwen/qwen3-14b, serve_as: tiny}\n${more}`);
  }

  async delete(): Promise<void> {
    await this.store.delete('alice', CHAT);
    await this.rest();
  }

  async drain(id: string): Promise<void> {
    this.endpoints.drain(CHAT, id);
    this.#all.enqueue(CHAT);
    await this.rest();
  }

  async ready(): Promise<void> {
    this.runners.ready(...this.runners.ids);
    await this.rest();
  }

  async shown(): Promise<Resource | null> {
    return this.store.get(CHAT);
  }

  /** `Running 3: message` */
  async status(): Promise<string> {
    const { status } = (await this.shown())!;
    return `${status!.phase} ${status!.ready}: ${status!.message}`;
  }

  /** Resolves when the status matches: for work that waits for the disk. */
  async until(wanted: RegExp): Promise<void> {
    while (!wanted.test(await this.status())) await this.rest();
  }

  /** Events with their counts and messages, the oldest first. */
  async events(): Promise<[count: number, reason: string, message: string][]> {
    const events = (await this.store.events.list(CHAT)).reverse();
    return events.map(({ count, message, reason }) => [count, reason, message]);
  }

  /** The reasons of events, the oldest first. */
  async reasons(): Promise<string[]> {
    return (await this.store.events.list(CHAT)).map(({ reason }) => reason).reverse();
  }
}
