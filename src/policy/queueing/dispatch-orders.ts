import { findNamed } from '../find-named.js';

/** In which order the gateway queue lets requests go. The tenant between the two steps is chosen by the fairness policy. */
export interface DispatchOrder {
  name: string;
  summary: string;
  /** Which band is served: the most important one, or that of the request which waits longest. */
  band: 'highest-priority' | 'oldest-request';
  /** Which request of the chosen tenant goes. */
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
    summary:
      'In order of arrival, whatever the priority; the band of the oldest request sets the ceiling that holds it.',
    band: 'oldest-request',
    request: 'oldest',
  },
  {
    name: 'slo-deadline',
    summary: "Higher SLO priority first; of the chosen tenant's requests the one whose SLO target runs out first.",
    band: 'highest-priority',
    request: 'earliest-deadline',
  },
];

export function dispatchOrder(name: string, place = '--dispatch-order'): DispatchOrder {
  return findNamed('dispatch order', DISPATCH_ORDERS, name, place);
}
