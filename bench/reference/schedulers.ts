import type { ReferenceRequest } from './request.js';

type Order = (a: ReferenceRequest, b: ReferenceRequest) => number;

const byArrival: Order = (a, b) => a.arrivalUs - b.arrivalUs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

const ORDERS: Record<string, Order | null> = {
  fcfs: null,
  'priority-fcfs': (a, b) => a.instancePriority - b.instancePriority || byArrival(a, b),
  'reverse-priority': (a, b) => b.instancePriority - a.instancePriority || byArrival(a, b),
  sjf: (a, b) => a.prompt.length - b.prompt.length || byArrival(a, b),
};

/** Puts the wait queue in the scheduler's order; `fcfs` leaves it as it is. */
export function orderQueue(scheduler: string, queue: ReferenceRequest[]): void {
  const order = ORDERS[scheduler];
  if (order === undefined) throw new Error(`the reference has no scheduler '${scheduler}'`);
  if (order !== null) queue.sort(order);
}

/** The request to preempt when memory is short. */
export function victimOf(policy: string, batch: readonly ReferenceRequest[]): ReferenceRequest {
  let victim = batch.at(-1)!;
  if (policy === 'fcfs') return victim;
  if (policy !== 'priority') throw new Error(`the reference has no preemption policy '${policy}'`);
  for (const candidate of batch.toReversed()) {
    const lessUrgent = candidate.instancePriority > victim.instancePriority;
    const later = candidate.instancePriority === victim.instancePriority && candidate.arrivalUs > victim.arrivalUs;
    if (lessUrgent || later) victim = candidate;
  }
  return victim;
}
