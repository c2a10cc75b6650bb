import type { KubeClient } from '../../../../kube/kube-client.js';
import type { ClusterCapacity, ClusterSettings, ReplicaResources } from '../../contract.js';
import { kubernetesSettings } from '../kubernetes-settings.js';
import type { ReplicaPod } from '../manifests/deployment.js';
import { podResources } from '../manifests/pod-resources.js';
import { type ClusterRoom, clusterCapacity, clusterRoom } from './cluster-capacity.js';
import { unfit } from './node-fit.js';

/** What a cluster has and what of it is free, as far as its nodes may be read. */
export class ClusterSize {
  /** As read last. */
  #room: ClusterRoom | null = null;

  constructor(
    private readonly client: KubeClient,
    private readonly ownPods: () => Iterable<ReplicaPod>,
  ) {}

  async read(settings: ClusterSettings): Promise<ClusterCapacity> {
    this.#room = await clusterRoom(this.client, [...this.ownPods()]);
    return clusterCapacity(this.#room, kubernetesSettings(settings), settings.gpus);
  }

  /** Throws `NoRoom` when no node could ever run a replica. Nodes that an autoscaler will add are not known here. */
  async check(resources: ReplicaResources, settings: ClusterSettings): Promise<void> {
    const given = kubernetesSettings(settings);
    const needs = podResources(resources, given);
    if (given.addsNodes) return;
    this.#room ??= await clusterRoom(this.client, [...this.ownPods()]);
    const problem = unfit(needs, resources, this.#room, given.gpuResource);
    if (problem !== null) throw problem;
  }
}
