import type { ManagedReplica } from '../managed-routes.js';

/** Engine, GPU and tensor parallelism above 1, as far as they are named: `vllm`, `vllm@H100`, `vllm@H100-tp2`. */
export function engineKeyOf({ engine, hardware = '', tp = 0 }: ManagedReplica): string {
  const ground = [hardware, tp > 1 ? `tp${tp}` : ''].filter((part) => part !== '').join('-');
  return ground === '' ? engine : `${engine}@${ground}`;
}

/** What a replica cannot change without being another one. */
export function replicaIdentity({
  engine,
  external,
  hardware,
  healthPath,
  id,
  isGuarded,
  loadPath,
  tp,
  url,
}: ManagedReplica): string {
  const isExternal = external !== undefined;
  return JSON.stringify([
    id,
    url,
    engine,
    healthPath,
    loadPath,
    isExternal,
    external?.firstByteMs,
    isGuarded ?? external?.isGuarded ?? false,
    hardware ?? '',
    tp ?? 0,
  ]);
}
