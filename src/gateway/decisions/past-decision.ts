import type { Explanation } from '../../policy/explanation.js';
import { createFleetView, type FleetView } from '../../policy/fleet-view.js';
import { type FlipSearch, findFlip } from '../../policy/flip/find-flip.js';
import type { HostedPolicies } from '../../policy/host/hosted-policies.js';
import { createPickState } from '../../policy/pick-state.js';
import {
  copyScalars,
  createRequestFeatures,
  type RequestFeatures,
  type RequestScalars,
} from '../../policy/request-features.js';
import type { DecidingFleet } from './deciding-fleet.js';

/** Columns of the view that a ring keeps of every decision; others are kept here while a policy reads them. */
export const KEPT_COLUMNS = [
  'queued',
  'running',
  'kvUsed',
  'inFlight',
  'pendingPrefillTokens',
  'ongoingDecodeTokens',
] as const;

type NumberColumn = Int32Array | Float64Array | Uint8Array;

/** The other columns that the routing policy reads, by slot: the live ones of a fleet, or those of a copy, in the same order. */
export function otherColumns(
  { routingReads }: HostedPolicies,
  view: FleetView,
  request: RequestFeatures,
): NumberColumn[] {
  const { correction, factor, itlUs, promptUs, ttftUs } = request.predictions;
  return routingReads.flatMap((signal): NumberColumn[] => {
    switch (signal) {
      case 'freeBlocks':
      case 'cacheHitRate':
      case 'ongoingTokens':
      case 'indexedBlocks':
        return [view[signal]];
      case 'replicaCache':
        return [request.cachedBlocks];
      case 'prediction':
        return [ttftUs, itlUs, promptUs, factor, correction];
      default:
        return [];
    }
  });
}

/** What the ring keeps of the fleet: one value per slot of each kept column, and of these two. */
export type KeptColumns = (name: (typeof KEPT_COLUMNS)[number] | 'routedBlocks' | 'eligible', slot: number) => number;

/**
 * What a decision depended on besides the numbers that explanations show: with them it can be made again, with other signals. No text
 * of the request is kept. The object is reused: what it holds is overwritten by the next decision.
 */
export class PastDecision {
  readonly #request: RequestScalars = createRequestFeatures(0);
  readonly #random = new Float64Array(4);
  readonly #numbers = createPickState(0).numbers;
  #policies: HostedPolicies | null = null;
  /** The state's own column; null for policies without one. */
  #column: Float64Array | null = null;
  /** Of `otherColumns`: by column, then by slot. */
  #others = new Float64Array(0);

  /** After the decision has been booked. */
  save(fleet: DecidingFleet, chosen: number, { state }: Explanation): void {
    const { host, view } = fleet;
    const { policies } = host;
    this.#policies = policies;
    copyScalars(host.features, this.#request);
    this.#random.set(state.random);
    this.#numbers.set(state.numbers);
    this.#column = state.hasColumn ? state.column.slice(0, view.size) : null;
    const columns = fleet.otherColumns;
    const room = columns.length * view.size;
    if (room > this.#others.length) this.#others = new Float64Array(room);
    let at = 0;
    for (let c = 0; c < columns.length; c++) {
      const column = columns[c]!;
      for (let slot = 0; slot < view.size; slot++) this.#others[at++] = column[slot]!;
      if (chosen < 0) continue;
      // The request itself has been placed by now.
      if (column === view.ongoingTokens) this.#others[at - view.size + chosen]! -= this.#request.inputTokens;
      if (column === view.indexedBlocks) this.#others[at - view.size + chosen] = fleet.indexedBefore;
    }
  }

  /** What would have flipped it; null when it cannot be repeated. */
  findFlip(ids: readonly string[], chosen: number, kept: KeptColumns): FlipSearch | null {
    const policies = this.#policies;
    if (policies === null) return null;
    const request = createRequestFeatures(ids.length);
    copyScalars(this.#request, request);
    const state = createPickState(ids.length);
    state.random.set(this.#random);
    state.numbers.set(this.#numbers);
    if (this.#column !== null) state.column.set(this.#column);
    const view = createFleetView(ids.length);
    view.ids = ids;
    for (let slot = 0; slot < ids.length; slot++) {
      view.eligible[slot] = kept('eligible', slot);
      request.routedBlocks[slot] = kept('routedBlocks', slot);
      for (const name of KEPT_COLUMNS) view[name][slot] = kept(name, slot);
    }
    for (const [c, column] of otherColumns(policies, view, request).entries()) {
      column.set(this.#others.subarray(c * ids.length, (c + 1) * ids.length));
    }
    const reads = policies.routingReads;
    return findFlip({ reads, request, view, state, chosen }, policies.repicker(ids.length));
  }
}
