import { entriesOf, factsOf, itemOf, type Schema } from '../../schema/facts.js';
import { camelCase } from '../../schema/names.js';
import { GATEWAY_SCHEMA } from './config-schema.js';
import type { GatewayConfig, ListenConfig } from './gateway-config.js';

/** The part of a reloaded configuration that a running gateway applies. */
export interface Reload {
  config: GatewayConfig;
  /** Keys that have changed and take effect at the next start. */
  needsRestart: string[];
}

/** The keys that the schema marks as settled at the start: `listen`, `limits.decisions`, ... */
function settledKeys(schema: Schema, above: readonly string[] = []): string[][] {
  return Object.entries(entriesOf(schema)!).flatMap(([name, inner]) => {
    const path = [...above, name];
    if (factsOf(inner).restart) return [path];
    return itemOf(inner) === null && entriesOf(inner) !== null ? settledKeys(inner, path) : [];
  });
}

const SETTLED = settledKeys(GATEWAY_SCHEMA as Schema).filter(([top]) => top !== 'policy');

type Tree = { [key: string]: Tree };

/**
 * The new configuration, except for what is settled when a gateway starts: its ports, the sizes of its buffers, its
 * files.
 */
export function reloadConfig(before: GatewayConfig, after: GatewayConfig): Reload {
  const config = { ...after } as unknown as Tree;
  const needsRestart: string[] = [];
  for (const keys of SETTLED) {
    const path = keys.map(camelCase);
    const key = path.pop()!;
    let old = before as unknown as Tree;
    let next = config;
    for (const step of path) {
      old = old[step]!;
      next[step] = { ...next[step] };
      next = next[step]!;
    }
    const wanted = JSON.stringify(next[key]);
    next[key] =
      key === 'listen' || key === 'admin' ? (sameListener(old[key], next[key]) as unknown as Tree) : old[key]!;
    if (JSON.stringify(next[key]) !== wanted) needsRestart.push(keys.join('.'));
  }
  return { config: config as unknown as GatewayConfig, needsRestart };
}

/** A port with TLS takes new certificates; whether it has TLS, and asks clients for certificates, is settled. */
function sameListener(before: unknown, after: unknown): ListenConfig {
  const [old, next] = [before as ListenConfig, after as ListenConfig];
  if (old.tls === null || next.tls === null) return old;
  const isSame = (old.tls.clientCa === undefined) === (next.tls.clientCa === undefined);
  return { ...old, tls: isSame ? next.tls : old.tls };
}
