import { findNamed } from '../find-named.js';

/** The order in which requests leave the gateway queue. Between its two steps the fairness policy chooses the tenant. */
export interface DispatchOrder {
  name: string;
  summary: string;
  /** The band that is served: the most important one, or that of the oldest request. */
  band: 'highest-priority' | 'oldest-request';
  /** The request of the chosen tenant that leaves. */
  request: 'oldest' | 'earliest-deadline';
}

export const DISPATCH_ORDERS: readonly DispatchOrder[] = [
  {
    name: 'priority',
    summary: 'Higher SLO priority first; in order of arrival among equals.',
    band: 'highest-priority',
    request: 'oldest',
  },
  {
    name: 'fifo',
    summary: 'In order of arrival, regardless of priority; the band of the oldest request sets the ceiling.',
    band: 'oldest-request',
    request: 'oldest',
  },
  {
    name: 'slo-deadline',
    summary: "Higher SLO priority first; of the chosen tenant's requests the one with the earliest deadline.",
    band: 'highest-priority',
    request: 'earliest-deadline',
  },
];

export function dispatchOrder(name: string, place = '--dispatch-order'): DispatchOrder {
  return findNamed('dispatch order', DISPATCH_ORDERS, name, place);
}
