import type { GatewayMode, GatewayRow } from '../../../store/quota/gateways.js';

/** How often a gateway says that it lives. */
export const HEARTBEAT_MS = 1000;

/** Without a word for so long it is dead for the others. */
export const DEAD_MS = 10 * HEARTBEAT_MS;

/** Without a word for so long it no longer trusts its own memory: earlier than the others can take over. */
export const LEASE_MS = DEAD_MS - HEARTBEAT_MS;

/** Alone for so long it takes the accounts into its memory again: not between the end of one neighbour and the next. */
export const ALONE_MS = 30 * HEARTBEAT_MS;

export interface Situation {
  mode: GatewayMode;
  /** Whether the store still has this gateway's row: if not, the others have taken it for dead. */
  isKnown: boolean;
  /** Those that live. */
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
