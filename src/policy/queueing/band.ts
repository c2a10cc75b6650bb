import { type MemberLinks, MemberList } from './member-list.js';

/** The waiting requests of one tenant in one band. Exists only while there are any, then serves another tenant. */
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
  /** One per tenant that waits, sorted by name. */
  readonly flows: Flow[] = [];
  /** The tenant whose turn was last; '' before the first. */
  lastServed = '';

  constructor(
    readonly priority: number,
    links: MemberLinks,
  ) {
    this.waiting = new MemberList(links);
  }

  /** The tenant's flow, or undefined when nothing of it waits. */
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

  /** The flow after the last served one, around the circle; the first when the last served tenant no longer waits. */
  nextInTurn(): Flow {
    const last = this.#position(this.lastServed);
    if (this.flows[last]?.tenant !== this.lastServed) return this.flows[0]!;
    return this.flows[(last + 1) % this.flows.length]!;
  }

  /** Where the tenant's flow is, or belongs. */
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
