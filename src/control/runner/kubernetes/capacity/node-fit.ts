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
  const name = lacking[0] ?? Object.keys(requests)[0] ?? 'pods';
  const lacks = name === 'cpu' || name === 'memory' ? name : 'gpus';
  const labels = Object.entries(nodeSelector).map(([label, value]) => `${label}=${value}`);
  const where = labels.length === 0 ? '' : ` with ${labels.join(', ')}`;
  const [largest] = [...selected].sort((a, b) => (b.has[name] ?? 0) - (a.has[name] ?? 0));
  const sizes =
    largest === undefined
      ? `there is no node${where}`
      : `the largest node${where}, ${largest.name}, has ${shown(name, largest.has[name] ?? 0)} (${shown(name, freeOn(largest, name))} free)`;
  const all = `all ${selected.length} together ${shown(
    name,
    total(selected, ({ has }) => has[name] ?? 0),
  )}`;
  const free = `${shown(
    name,
    total(selected, (one) => freeOn(one, name)),
  )} free`;
  const detail = `it needs ${shown(name, quantity(requests[name]))} of ${name} on one node; ${sizes}${largest === undefined ? '' : `, ${all} (${free})`}`;
  return new NoRoom(lacks, resources, clusterCapacity(room, { gpuResource }, undefined).free, detail);
}

const fits = ({ has }: KubeNodeRoom, requests: PodNeeds['requests']) =>
  Object.entries(requests).every(([name, amount]) => (has[name] ?? 0) >= quantity(amount));

const total = (nodes: readonly KubeNodeRoom[], amount: (one: KubeNodeRoom) => number) =>
  nodes.reduce((all, one) => all + amount(one), 0);

const shown = (name: string, amount: number) =>
  name === 'memory' ? `${Math.floor(amount / 2 ** 20)} MiB` : String(Math.round(amount * 1000) / 1000);
