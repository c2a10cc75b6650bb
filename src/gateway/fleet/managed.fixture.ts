import { DEFAULT_POLICY } from '../config/gateway-config.js';
import type { ExternalConfig, ManagedEndpoint, ManagedReplica } from './managed-routes.js';

/** The replica of an engine that serves the model `m`, as its runner describes it. */
export function managedReplica(id: string, url: string, change: Partial<ManagedReplica> = {}): ManagedReplica {
  return { id, url, engine: 'vllm', models: ['m'], ...change };
}

/** An external upstream. */
export function upstream(
  id: string,
  url: string,
  external: Partial<ExternalConfig> = {},
  models: readonly string[] | null = ['m'],
): ManagedReplica {
  const usual = { prefix: '/v1', credential: null, renames: {}, weight: 1, tier: 0 };
  return { id, url, engine: 'external', models, external: { ...usual, ...external } };
}

/** The endpoint `ws/chat`. */
export function managedEndpoint(
  replicas: readonly ManagedReplica[],
  change: Partial<ManagedEndpoint> = {},
): ManagedEndpoint {
  return { workspace: 'ws', name: 'chat', policy: { ...DEFAULT_POLICY, name: 'round-robin' }, replicas, ...change };
}
