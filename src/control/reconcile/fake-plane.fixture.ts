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
import { LeavingReplicas } from './endpoint/leaving-replicas.js';
import { FakeRoutes } from './fake-routes.fixture.js';
import { FakeRunner } from './fake-runner.fixture.js';
import { FakeTiming, settled } from './fake-timing.fixture.js';
import { ModelFetches } from './models/model-fetches.js';
import { Reconcilers } from './reconcilers.js';

const CHAT = { kind: 'Endpoint', workspace: 'default', name: 'chat' };

/** All that keeps endpoints true, over a real store, with toys for the machine, the gateway and the time. */
export class FakePlane {
  readonly faults: unknown[] = [];
  readonly routes = new FakeRoutes();
  endpoints!: EndpointReconciler;
  #all!: Reconcilers;
  #unheard: () => void = () => {};
  #names = 0;

  private constructor(
    readonly folder: string,
    readonly opened: Store,
    readonly store: ControlStore,
    readonly timing: FakeTiming,
    readonly runner: FakeRunner,
  ) {}

  static async open(): Promise<FakePlane> {
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-plane-'));
    const opened = await openStore(join(folder, 'yard.db'));
    const timing = new FakeTiming();
    const store = new ControlStore(opened, SecretBox.open(join(folder, 'secrets.key')));
    await installDefaults(store);
    const plane = new FakePlane(folder, opened, store, timing, new FakeRunner(timing));
    onTestFinished(async () => {
      await plane.#all.close();
      await opened.close();
      rmSync(folder, { recursive: true });
    });
    await plane.reborn();
    return plane;
  }

  /** A control plane that knows nothing but what is stored and what runs. */
  async reborn(): Promise<void> {
    await this.#all?.close();
    this.#unheard();
    const { routes, runner, store, timing } = this;
    const look = (workspace: string, name: string) => this.#all.look({ kind: 'Endpoint', workspace, name });
    const onFailure = (_: string, error: unknown) => this.faults.push(error);
    const leaving = new LeavingReplicas({ runner, routes, timing, left: look, onFailure });
    const cache = await ModelCache.open(join(this.folder, 'models'));
    const fetches = new ModelFetches({ cache, timing, changed: (key) => this.#all.lookAt(key) });
    this.endpoints = new EndpointReconciler({
      ...{ store, runner, routes, leaving, fetches, timing, self: ['twinyard'] },
      urlOf: (workspace, name) => `http://gateway/${workspace}/${name}`,
      randomName: () => `r${++this.#names}`,
    });
    const onFault = (error: unknown) => this.faults.push(error);
    this.#all = new Reconcilers({ store, timing, onFault, reconcilers: [this.endpoints] });
    this.#unheard = runner.watch(({ replica }) => look(replica.workspace, replica.endpoint));
    for (const { endpoint, workspace } of await runner.list()) look(workspace, endpoint);
    await this.#all.start();
    await this.rest();
  }

  /** Resolves when there is nothing to do but to wait. */
  async rest(): Promise<void> {
    for (let i = 0; i < 4; i++) {
      await settled();
      await this.#all.looked('Endpoint');
    }
  }

  async pass(ms: number): Promise<void> {
    await this.timing.pass(ms);
    await this.rest();
  }

  async apply(text: string): Promise<void> {
    await this.store.apply('alice', readResources(text, 'f.yaml'));
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

  async ready(): Promise<void> {
    this.runner.ready(...this.runner.ids);
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

  /** Resolves when that is its status: for what takes the disk's own time. */
  async until(wanted: RegExp): Promise<void> {
    while (!wanted.test(await this.status())) await this.rest();
  }

  /** The same with how often, and in which words. */
  async happened(): Promise<[count: number, reason: string, message: string][]> {
    const events = (await this.store.events.list(CHAT)).reverse();
    return events.map(({ count, message, reason }) => [count, reason, message]);
  }

  /** What has happened to the endpoint, the oldest first. */
  async reasons(): Promise<string[]> {
    return (await this.store.events.list(CHAT)).map(({ reason }) => reason).reverse();
  }
}
