import type { EnqueueOutcome, GatewayQueueOptions, QueueCandidate } from './gateway-queue.js';

interface Entry {
  request: number;
  priority: number;
  tenant: string;
  sequence: number;
  deadline: number;
}

function least<T>(items: readonly T[], ...keys: ((item: T) => number)[]): T | undefined {
  return [...items].sort((a, b) => keys.map((key) => key(a) - key(b)).find((d) => d !== 0 && !Number.isNaN(d)) ?? 0)[0];
}

/** A naive gateway queue: one list, everything recomputed for each call. */
export class NaiveGatewayQueue {
  entries: Entry[] = [];
  displaced = -1;
  #sequence = 0;
  readonly #priorities = new Set<number>();
  readonly #lastServed = new Map<number, string>();

  constructor(readonly options: GatewayQueueOptions) {}

  enqueue(request: number, { priority, tenant, nowUs, sloTargetUs }: QueueCandidate): EnqueueOutcome {
    const { capacity, bandCapacity, shedding } = this.options;
    const sequence = this.#sequence++;
    this.#priorities.add(priority);
    this.displaced = -1;
    if (bandCapacity > 0 && this.#band(priority).length >= bandCapacity) return 'rejected';
    if (capacity > 0 && this.entries.length >= capacity) {
      if (!shedding) return 'rejected';
      const sheddable = this.entries.filter((entry) => entry.priority < 0);
      const victim = least(
        sheddable,
        (entry) => entry.priority,
        (entry) => -entry.sequence,
      );
      if (victim === undefined || victim.priority >= priority) return 'rejected';
      this.displaced = victim.request;
      this.remove(victim.request);
    }
    const deadline = sloTargetUs > 0 ? nowUs + sloTargetUs : Number.POSITIVE_INFINITY;
    this.entries.push({ request, priority, tenant: tenant || 'default', sequence, deadline });
    return this.displaced < 0 ? 'accepted' : 'displaced';
  }

  dequeue(saturation: number): number {
    const priority = this.#bandToServe(saturation);
    if (priority === undefined) return -1;
    const band = this.#band(priority);
    const tenant = this.#tenantToServe(band, this.#lastServed.get(priority));
    const flow = band.filter((entry) => entry.tenant === tenant);
    const byDeadline = this.options.dispatchOrder.name === 'slo-deadline';
    const chosen = least(
      flow,
      (entry) => (byDeadline ? entry.deadline : 0),
      (entry) => entry.sequence,
    )!;
    this.#lastServed.set(priority, tenant);
    this.remove(chosen.request);
    return chosen.request;
  }

  remove(request: number): boolean {
    const before = this.entries.length;
    this.entries = this.entries.filter((entry) => entry.request !== request);
    return this.entries.length < before;
  }

  oldest(): number {
    return least(this.entries, (entry) => entry.sequence)?.request ?? -1;
  }

  forEach(visit: (request: number) => void): void {
    const ordered = [...this.entries].sort((a, b) => b.priority - a.priority || a.sequence - b.sequence);
    for (const { request } of ordered) visit(request);
  }

  #band(priority: number): Entry[] {
    return this.entries.filter((entry) => entry.priority === priority);
  }

  #bandToServe(saturation: number): number | undefined {
    const bands = [...this.#priorities].sort((a, b) => b - a);
    const { usageLimit, dispatchOrder } = this.options;
    const held = (i: number) =>
      saturation >= (bands.length === 1 ? 1 : 1 - (i * (1 - usageLimit)) / (bands.length - 1));
    if (dispatchOrder.name === 'fifo') {
      const oldest = least(this.entries, (entry) => entry.sequence);
      return oldest === undefined || held(bands.indexOf(oldest.priority)) ? undefined : oldest.priority;
    }
    const firstHeld = bands.findIndex((_, i) => held(i));
    const open = firstHeld < 0 ? bands : bands.slice(0, firstHeld);
    return open.find((priority) => this.#band(priority).length > 0);
  }

  #tenantToServe(band: readonly Entry[], last: string | undefined): string {
    if (this.options.fairness.name === 'global-strict') return least(band, (entry) => entry.sequence)!.tenant;
    const tenants = [...new Set(band.map((entry) => entry.tenant))].sort();
    return tenants[(tenants.indexOf(last ?? '') + 1) % tenants.length]!;
  }
}
