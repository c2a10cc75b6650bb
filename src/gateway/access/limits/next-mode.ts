import type { GatewayMode, GatewayRow } from '../../../store/quota/gateways.js';

/** The interval of heartbeats. */
export const HEARTBEAT_MS = 1000;

/** Without a heartbeat for this long, the others consider a gateway dead. */
export const DEAD_MS = 10 * HEARTBEAT_MS;

/**
 * Without a heartbeat for this long, a gateway no longer trusts its own memory: earlier than the others can take over.
 */
export const LEASE_MS = DEAD_MS - HEARTBEAT_MS;

/** Alone for this long, a gateway moves the accounts into its memory again: longer than a rolling restart takes. */
export const ALONE_MS = 30 * HEARTBEAT_MS;

export interface Situation {
  mode: GatewayMode;
  /** Whether the store still has this gateway's row: if not, the others considered it dead. */
  isKnown: boolean;
  /** The live gateways. */
  others: readonly GatewayRow[];
  aloneMs: number;
}

/**
 * Where the accounts are kept from now on. There is one authority at any time: one gateway's memory or the store. A
 * gateway that keeps them in memory hands them to the store as soon as it sees another gateway; until then the other
 * waits.
 */
export function nextMode({ mode, isKnown, others, aloneMs }: Situation): GatewayMode {
  const isAlone = others.length === 0;
  if (isKnown && mode === 'local') return isAlone ? 'local' : 'shared';
  if (isKnown && mode === 'shared') return isAlone && aloneMs >= ALONE_MS ? 'local' : 'shared';
  if (isAlone) return 'local';
  return others.some((other) => other.mode === 'local') ? 'joining' : 'shared';
}
