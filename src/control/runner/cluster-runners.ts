import { join } from 'node:path';
import type {
  ClusterSettings,
  LogOptions,
  ReplicaExit,
  ReplicaHandle,
  ReplicaSpec,
  ReplicaUser,
  Runner,
  RunnerEvent,
  StopOptions,
} from './contract.js';
import { builtInCluster, clusterMoved, clusterNotOpen, notLeading, oneCluster, replicaNotFound } from './errors.js';
import { type LogOwner, PreviousLogs } from './previous-logs.js';
import { RUNNER_TYPES } from './registry.js';
import type { RunnerType } from './runner-type.js';

/** Not a name that a cluster can have. */
const PREVIOUS = '.previous-logs';

/** A replica, and the cluster it runs in. */
export interface ClusterReplica extends ReplicaHandle {
  readonly cluster: string;
}

export interface ClusterEvent {
  readonly type: RunnerEvent['type'];
  readonly replica: ClusterReplica;
}

export interface ClusterRunnersOptions {
  /** Every runner gets a folder below it. */
  readonly folder: string;
  readonly onFault: (error: Error) => void;
  /** Replicas on this machine run as this user; by default as that of this process. */
  readonly user?: ReplicaUser | null;
  /** Removes known secrets from a line of a log. */
  readonly scrub?: (line: string) => string;
  readonly types?: readonly RunnerType[];
  /** Whether this process acts on clusters that other control planes reach too; by default always. Read before each action. */
  readonly isLeading?: () => boolean;
}

interface OpenCluster {
  readonly type: RunnerType;
  /** Those it was opened with. */
  readonly settings: ClusterSettings;
  readonly runner: Runner;
  readonly unwatch: () => void;
}

/**
 * The runners of all clusters, by the name of the cluster. Those of built-in clusters are opened first, since their
 * folders are locked against a second control plane; the others when their Cluster is first reconciled.
 */
export class ClusterRunners {
  readonly #options: ClusterRunnersOptions;
  readonly #types: readonly RunnerType[];
  readonly #open = new Map<string, OpenCluster>();
  readonly #listeners = new Set<(event: ClusterEvent) => void>();
  readonly #previous: PreviousLogs;

  private constructor(options: ClusterRunnersOptions) {
    this.#options = options;
    const { folder, onFault, scrub = (line: string) => line } = options;
    this.#previous = new PreviousLogs(join(folder, PREVIOUS), scrub, onFault);
    this.#types = options.types ?? RUNNER_TYPES;
  }

  /** Opens the runners of built-in clusters; throws what keeps one from being opened. */
  static async open(options: ClusterRunnersOptions): Promise<ClusterRunners> {
    const runners = new ClusterRunners(options);
    try {
      for (const { builtInCluster, name } of runners.#types) {
        if (builtInCluster !== null) await runners.use(builtInCluster, name, {});
      }
      return runners;
    } catch (error) {
      await runners.close();
      throw error;
    }
  }

  /** The type of an open cluster; null when it is not open. */
  typeOf(cluster: string): RunnerType | null {
    return this.#open.get(cluster)?.type ?? null;
  }

  /** Whether a type of cluster is on this machine, where no other control plane reaches it. */
  runsHere(typeName: string): boolean {
    return this.#types.find(({ name }) => name === typeName)?.runsHere === true;
  }

  /**
   * The runner of a cluster with these settings; opened if need be.
   * @param clusterUid of the resource, for clusters that other control planes may use too
   */
  async use(cluster: string, typeName: string, settings: ClusterSettings, clusterUid?: string): Promise<Runner> {
    const present = this.#open.get(cluster);
    const isSame = present?.type.name === typeName && !present.type.isElsewhere?.(present.settings, settings);
    if (present !== undefined && isSame) {
      present.runner.configure(settings);
      return present.runner;
    }
    const type = this.#types.find(({ name }) => name === typeName)!;
    const owner = this.#types.find((one) => one.builtInCluster === cluster);
    if (owner !== undefined && owner !== type) throw builtInCluster(cluster, owner.name);
    if (owner === undefined && type.builtInCluster !== null) throw oneCluster(cluster, type.name, type.builtInCluster);
    if (present?.type === type && (await present.runner.list()).length > 0) throw clusterMoved(cluster);
    await this.drop(cluster);
    const { folder, onFault, scrub = (line: string) => line, user = null } = this.#options;
    const mayAct = () => this.#mayAct(type);
    const runner = await type.open({
      ...{ cluster, clusterUid, settings, folder: join(folder, cluster) },
      ...{ onFault, scrub, user, mayAct },
    });
    const unwatch = runner.watch(({ replica, type }) => {
      const event = { type, replica: { ...replica, cluster } };
      for (const listener of [...this.#listeners]) listener(event);
    });
    this.#open.set(cluster, { type, settings, runner, unwatch });
    return runner;
  }

  /** Closes the runner of a cluster; its replicas keep running. */
  async drop(cluster: string): Promise<void> {
    const present = this.#open.get(cluster);
    if (present === undefined) return;
    this.#open.delete(cluster);
    present.unwatch();
    await present.runner.close();
  }

  /** Closes the runners of clusters that other control planes reach too: their replicas keep running. */
  async dropShared(): Promise<void> {
    const shared = [...this.#open].filter(([, { type }]) => !type.runsHere);
    await Promise.all(shared.map(([cluster]) => this.drop(cluster)));
  }

  /** The replicas of all open clusters. */
  async list(): Promise<ClusterReplica[]> {
    const lists = [...this.#open].map(async ([cluster, { runner }]) =>
      (await runner.list()).map((replica) => ({ ...replica, cluster })),
    );
    return (await Promise.all(lists)).flat();
  }

  /** Throws when the cluster is not open, and when another control plane may act on it; else as `Runner.start`. */
  async start(cluster: string, spec: ReplicaSpec): Promise<ReplicaHandle> {
    return this.#actingOn(cluster).start(spec);
  }

  /** As `Runner.stop`; the log is kept for `previousLog`. */
  async stop(
    { cluster, id }: Pick<ClusterReplica, 'cluster' | 'id'>,
    options: Omit<StopOptions, 'keepLog'>,
  ): Promise<ReplicaExit | null> {
    const keepLog: StopOptions['keepLog'] = (exited, lines) => this.#previous.keep(exited, lines);
    return this.#actingOn(cluster).stop(id, { ...options, keepLog });
  }

  /** The log of the replica of an endpoint that ended last; null when none has ended. */
  async previousLog(of: LogOwner, tail: number): Promise<{ replica: string; lines: AsyncIterable<string> } | null> {
    const isOurs = (one: ReplicaHandle) => one.workspace === of.workspace && one.endpoint === of.endpoint;
    const exited = (await this.list()).filter((one) => isOurs(one) && one.exit !== null);
    const [last] = exited.sort((a, b) => b.exit!.at - a.exit!.at);
    const kept = this.#previous.find(of);
    if (last !== undefined && last.exit!.at >= (kept?.at ?? 0)) {
      return { replica: last.id, lines: this.logs(last.id, { tail }) };
    }
    return kept === null ? null : { replica: kept.replica, lines: lastOf(kept.lines, tail) };
  }

  /** Deletes what is kept of replicas of an endpoint. */
  async forgetLog(of: LogOwner): Promise<void> {
    await this.#previous.forget(of);
  }

  async *logs(id: string, options?: LogOptions): AsyncGenerator<string> {
    const replica = (await this.list()).find((one) => one.id === id);
    if (replica === undefined) throw replicaNotFound(id);
    yield* this.#runnerOf(replica.cluster).logs(id, options);
  }

  watch(listener: (event: ClusterEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Closes all runners; replicas keep running, and `list` returns the last observed state. */
  async close(): Promise<void> {
    this.#listeners.clear();
    await Promise.all([...this.#open.values()].map(({ runner }) => runner.close()));
  }

  #mayAct(type: RunnerType | null): boolean {
    return type?.runsHere === true || (this.#options.isLeading?.() ?? true);
  }

  #actingOn(cluster: string): Runner {
    if (!this.#mayAct(this.typeOf(cluster))) throw notLeading(cluster);
    return this.#runnerOf(cluster);
  }

  #runnerOf(cluster: string): Runner {
    const present = this.#open.get(cluster);
    if (present === undefined) throw clusterNotOpen(cluster);
    return present.runner;
  }
}

async function* lastOf(lines: readonly string[], tail: number): AsyncGenerator<string> {
  yield* lines.slice(Math.max(0, lines.length - tail));
}
