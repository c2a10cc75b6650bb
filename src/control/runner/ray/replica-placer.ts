import type { RayClient } from '../../../ray/ray-client.js';
import { readNodes, readUse } from '../../../ray/ray-nodes.js';
import type { ClusterSettings, Gpu, ReplicaSpec } from '../contract.js';
import { noRayNode } from './errors.js';
import { type HeldResources, nodeRooms, placeReplica, type RayNodeRoom } from './node-rooms.js';
import { raySettings } from './ray-settings.js';
import { replicaJob, submissionIdOf } from './replica-job.js';
import type { RayReplicaRecord } from './replica-record.js';

/** Ended replicas are remembered until Ray reports that it has released their resources. */
const MOST_ENDED = 100;

/** Chooses nodes for replicas, one replica at a time: two never get the same resources. */
export class ReplicaPlacer {
  readonly #reserved = new Map<string, HeldResources>();
  #ended: readonly HeldResources[] = [];
  #placing: Promise<unknown> = Promise.resolve();

  /** @param held what the replicas that are known hold */
  constructor(
    private readonly client: RayClient,
    private readonly cluster: string,
    private readonly held: () => readonly HeldResources[],
  ) {}

  /** Chooses a node, and holds what the replica needs there until it is released. */
  place(spec: ReplicaSpec, settings: ClusterSettings): Promise<ReturnType<typeof replicaJob>> {
    const placed = this.#placing.then(() => this.#place(spec, settings));
    this.#placing = placed.catch(() => {});
    return placed;
  }

  /** The replica is known now, or was not started. */
  release(id: string): void {
    this.#reserved.delete(id);
  }

  /** A replica is not known any more. */
  ended(held: HeldResources): void {
    this.#ended = [...this.#ended, held].slice(-MOST_ENDED);
  }

  async rooms(declared: readonly Gpu[] | undefined): Promise<RayNodeRoom[]> {
    const [nodes, use] = await Promise.all([readNodes(this.client), readUse(this.client)]);
    return nodeRooms(nodes, use, [...this.held(), ...this.#reserved.values(), ...this.#ended], declared);
  }

  async #place(spec: ReplicaSpec, settings: ClusterSettings) {
    const { endpoint, generation, healthPath, id, resources, specHash, startupTimeoutMs, workspace } = spec;
    const rooms = await this.rooms(settings.gpus);
    if (rooms.length === 0) throw noRayNode(id);
    const { gpus, node } = placeReplica(rooms, resources, spec.placement);
    const ray = raySettings(settings);
    const startedAt = Date.now();
    const record: RayReplicaRecord = {
      ...{ id, workspace, endpoint, generation, specHash, resources, healthPath, startupTimeoutMs, startedAt },
      submissionId: submissionIdOf(this.cluster, id, startedAt),
      nodeId: node.id,
      address: ray.nodeAddresses[node.address] ?? node.address,
      gpus,
    };
    this.#reserved.set(id, { nodeId: node.id, resources, gpus, endedAt: null });
    return replicaJob(spec, record, node, { settings: ray, cluster: this.cluster });
  }
}
