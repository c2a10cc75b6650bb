import { findNamed } from '../find-named.js';
import type { FleetView, Signal } from '../fleet-view.js';

/** Where a replica counts as full, for the detectors. */
export interface SaturationLimits {
  queueDepth: number;
  /** Share of KV blocks in use. */
  kvUsed: number;
  /** Requests in flight per replica. */
  maxConcurrency: number;
}

/** Measures how full the fleet is: from 1 on nothing more should be sent. */
export interface SaturationDetector {
  name: string;
  summary: string;
  reads: readonly Signal[];
  measure(view: FleetView, limits: SaturationLimits): number;
}

export const SATURATION_DETECTORS: readonly SaturationDetector[] = [
  {
    name: 'never',
    summary: 'The fleet is never full: requests leave the queue at once.',
    reads: [],
    measure: () => 0,
  },
  {
    name: 'utilization',
    summary: 'Mean over the replicas of queue or KV memory use, whichever is nearer to its limit.',
    reads: ['queued', 'kvUsed'],
    measure: (view, limits) => meanUtilization(view, limits.queueDepth, limits.kvUsed),
  },
  {
    name: 'concurrency',
    summary: 'Requests in flight as a share of what all replicas may hold.',
    reads: ['inFlight'],
    measure: (view, limits) => shareInFlight(view, limits.maxConcurrency),
  },
];

export function saturationDetector(name: string, place = '--saturation-detector'): SaturationDetector {
  return findNamed('saturation detector', SATURATION_DETECTORS, name, place);
}

/** Mean over eligible replicas of max(queued / limit, KV used / limit); 1 without any. */
export function meanUtilization(view: FleetView, queueDepth: number, kvUsed: number): number {
  let sum = 0;
  let replicas = 0;
  for (let i = 0; i < view.size; i++) {
    if (view.eligible[i] === 0) continue;
    sum += Math.max(view.queued[i]! / queueDepth, view.kvUsed[i]! / kvUsed);
    replicas++;
  }
  return replicas === 0 ? 1 : sum / replicas;
}

function shareInFlight(view: FleetView, maxConcurrency: number): number {
  let inFlight = 0;
  let replicas = 0;
  for (let i = 0; i < view.size; i++) {
    if (view.eligible[i] === 0) continue;
    inFlight += view.inFlight[i]!;
    replicas++;
  }
  return replicas === 0 ? 1 : inFlight / (replicas * maxConcurrency);
}
