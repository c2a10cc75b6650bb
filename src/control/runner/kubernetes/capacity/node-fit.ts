import type { ReplicaResources } from '../../contract.js';
import { NoRoom } from '../../errors.js';
import { type ClusterRoom, clusterCapacity, freeOn, type KubeNodeRoom } from './cluster-capacity.js';
import { quantity } from './pod-demand.js';

/** What a pod requires of one node. */
interface PodNeeds {
  readonly requests: Readonly<Record<string, string>>;
  readonly nodeSelector: Readonly<Record<string, string>>;
}

/**
 * Why no node could run a pod, however empty; null when one could, and when the nodes are not known. Whether there is room now is
 * decided by the scheduler: a pod may wait for others to end.
 */
export function unfit(
  { nodeSelector, requests }: PodNeeds,
  resources: ReplicaResources,
  room: ClusterRoom,
  gpuResource: string,
): NoRoom | null {
  if (room.nodes === null) return null;
  const selected = room.nodes.filter(({ labels }) =>
    Object.entries(nodeSelector).every(([name, value]) => labels[name] === value),
  );
  const lacking = Object.keys(requests).filter((name) => {
    return !selected.some(({ has }) => (has[name] ?? 0) >= quantity(requests[name]));
  });
  const isShort = lacking.length > 0 || !selected.some((one) => fits(one, requests));
  if (!isShort) return null;
  const [name] = lacking;
  const lacks = name === 'cpu' || name === 'memory' ? name : 'gpus';
  const labels = Object.entries(nodeSelector).map(([label, value]) => `${label}=${value}`);
  const where = labels.length === 0 ? '' : ` with ${labels.join(', ')}`;
  const found = selected.length === 0 ? `there is no node${where}` : `no node${where} has all of ${needed(requests)}`;
  const detail =
    name === undefined
      ? found
      : `it needs ${shown(name, quantity(requests[name]))} of ${name} on one node; ${selected.length === 0 ? found : sizes(name, selected, where)}`;
  return new NoRoom(lacks, resources, clusterCapacity(room, { gpuResource }, undefined).free, detail);
}

/** What the largest node has of a resource, and all together. */
function sizes(name: string, nodes: readonly KubeNodeRoom[], where: string): string {
  const has = (one: KubeNodeRoom) => one.has[name] ?? 0;
  const free = (one: KubeNodeRoom) => freeOn(one, name);
  const largest = nodes.reduce((most, one) => (has(one) > has(most) ? one : most));
  const ofLargest = `${shown(name, has(largest))} (${shown(name, free(largest))} free)`;
  const ofAll = `${shown(name, total(nodes, has))} (${shown(name, total(nodes, free))} free)`;
  return `the largest node${where}, ${largest.name}, has ${ofLargest}, all ${nodes.length} together ${ofAll}`;
}

const needed = (requests: PodNeeds['requests']) =>
  Object.entries(requests)
    .map(([name, amount]) => `${shown(name, quantity(amount))} of ${name}`)
    .join(', ');

const fits = ({ has }: KubeNodeRoom, requests: PodNeeds['requests']) =>
  Object.entries(requests).every(([name, amount]) => (has[name] ?? 0) >= quantity(amount));

const total = (nodes: readonly KubeNodeRoom[], amount: (one: KubeNodeRoom) => number) =>
  nodes.reduce((all, one) => all + amount(one), 0);

const shown = (name: string, amount: number) =>
  name === 'memory' ? `${Math.floor(amount / 2 ** 20)} MiB` : String(Math.round(amount * 1000) / 1000);
