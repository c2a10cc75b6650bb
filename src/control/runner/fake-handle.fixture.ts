import type { ReplicaHandle } from './contract.js';

/** A replica that is ready, with no process behind it. */
export function fakeHandle(id: string, change: Partial<ReplicaHandle> = {}): ReplicaHandle {
  return {
    ...{ id, workspace: 'default', endpoint: 'chat', generation: 1, specHash: '', phase: 'ready' },
    ...{ url: 'http://127.0.0.1:1', problem: null, gpus: [], startedAt: 0, readyAt: null, exit: null },
    resources: { cpu: null, memoryBytes: null, gpus: 0, product: null },
    ...change,
  };
}
