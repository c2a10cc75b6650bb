import { type MemberLinks, MemberList } from './member-list.js';

/** The waiting requests of one tenant in one band. Reused for another tenant once it is empty. */
export class Flow {
  tenant = '';
  band!: Band;
  readonly waiting: MemberList;

  constructor(
    readonly id: number,
    links: MemberLinks,
  ) {
    this.waiting = new MemberList(links);
  }
}

/** All waiting requests of one SLO priority. */
export class Band {
  /** Of all tenants, in order of arrival. */
  readonly waiting: MemberList;
  /** One per tenant with waiting requests, sorted by name. */
  readonly flows: Flow[] = [];
  /** The tenant served last; '' before the first. */
  lastServed = '';

  constructor(
    readonly priority: number,
    links: MemberLinks,
  ) {
    this.waiting = new MemberList(links);
  }

  /** The tenant's flow, or undefined when it has nothing waiting. */
  find(tenant: string): Flow | undefined {
    const flow = this.flows[this.#position(tenant)];
    return flow?.tenant === tenant ? flow : undefined;
  }

  open(flow: Flow, tenant: string): void {
    flow.tenant = tenant;
    flow.band = this;
    this.flows.splice(this.#position(tenant), 0, flow);
  }

  close(flow: Flow): void {
    this.flows.splice(this.#position(flow.tenant), 1);
  }

  /** The flow after the one served last, cyclically; the first when that tenant has nothing waiting any more. */
  nextInTurn(): Flow {
    const last = this.#position(this.lastServed);
    if (this.flows[last]?.tenant !== this.lastServed) return this.flows[0]!;
    return this.flows[(last + 1) % this.flows.length]!;
  }

  /** The index of the tenant's flow, or where it would be inserted. */
  #position(tenant: string): number {
    let low = 0;
    let high = this.flows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.flows[middle]!.tenant < tenant) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
