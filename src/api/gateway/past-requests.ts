import { type EndpointName, namedEndpoint } from '../../gateway/fleet/endpoint-name.js';
import { keptOf } from '../../gateway/history/request-keeper.js';
import type { PastRequest } from '../../gateway/history/request-ring.js';
import { isStoreFailure } from '../../store/database/errors.js';
import {
  comparePlaces,
  type KeptRequest,
  type RequestFilter,
  type RequestPlace,
} from '../../store/requests/kept-request.js';
import type { KeptRequests } from '../../store/requests/kept-requests.js';
import { type Caller, workspacesWith } from '../access/caller.js';
import type { ApiHost } from '../api-host.js';

/** Counting ends here: the number of all is of no use to a reader, and takes time. */
const MOST_COUNTED = 10_000;

export interface FoundRequests {
  /** The latest first. */
  readonly requests: readonly KeptRequest[];
  /** How many fit the filter, and whether there are even more. */
  readonly total: number;
  readonly isMore: boolean;
  /** Why those of the store are missing; null when they are not. */
  readonly problem: string | null;
}

/** The requests that have ended: those in the memory of this gateway, and those in the store, without duplicates. */
export class PastRequests {
  readonly #host: ApiHost;
  /** Only of these workspaces; undefined for all. */
  readonly #workspaces: readonly string[] | undefined;
  readonly #places = new Map<string, EndpointName>();

  /** @param workspace only of this one: the caller may see it */
  constructor(host: ApiHost, caller: Caller, workspace?: string) {
    this.#host = host;
    this.#workspaces = workspace === undefined ? workspacesWith(caller, 'viewer') : [workspace];
  }

  /** @param before only those that stand after this place */
  async list(wanted: RequestFilter, before: RequestPlace | null, limit: number): Promise<FoundRequests> {
    const { requests } = this.#host.gateway.traffic;
    const isWanted = (one: PastRequest) => this.#sees(one, wanted.endpoint) && fits(one, wanted, this.#endedAt(one));
    const isAfter = (one: PastRequest) => before === null || comparePlaces(before, this.#placeOf(one)) < 0;
    const inMemory = requests
      .before(Number.POSITIVE_INFINITY, limit, (one) => isWanted(one) && isAfter(one))
      .map((one) => this.#kept(one));
    const counted = requests.count(isWanted);
    const except = { gateway: this.#run, from: requests.oldest };
    const filter = { ...wanted, except, ...(this.#workspaces === undefined ? {} : { workspaces: this.#workspaces }) };
    const stored = this.#stored;
    if (stored === null) return { requests: inMemory, total: counted, isMore: false, problem: null };
    try {
      const inStore = await stored.list(filter, before, limit);
      // All of them were read: they need not be counted.
      const isWhole = before === null && inStore.length < limit;
      const more = isWhole ? inStore.length : await stored.count(filter, MOST_COUNTED);
      const all = [...inMemory, ...inStore].sort(comparePlaces).slice(0, limit);
      return { requests: all, total: counted + more, isMore: !isWhole && more === MOST_COUNTED, problem: null };
    } catch (error) {
      if (!isStoreFailure(error)) throw error;
      return { requests: inMemory, total: counted, isMore: true, problem: (error as Error).message };
    }
  }

  /** The last request of an id; undefined when there is none, or no longer. */
  async find(id: string): Promise<KeptRequest | undefined> {
    const { requests } = this.#host.gateway.traffic;
    const [found] = requests.before(Number.POSITIVE_INFINITY, 1, (one) => one.id === id && this.#sees(one));
    if (found !== undefined) return this.#kept(found);
    return (await this.#stored?.find(id, this.#workspaces)) ?? undefined;
  }

  /** What the store kept about the decision of a request. */
  async explanation(id: string): Promise<unknown> {
    const stored = this.#stored;
    const found = await stored?.find(id, this.#workspaces);
    return found === undefined || found === null ? null : stored!.explanation(found);
  }

  /** Null where the store keeps none, or where the caller sees none of them. */
  get #stored(): KeptRequests | null {
    const { gateway, hasStore } = this.#host;
    const isKept = hasStore && gateway.traffic.services.keeper?.isOn === true && this.#workspaces?.length !== 0;
    return isKept ? this.#host.store.requests : null;
  }

  get #run(): string {
    return this.#host.gateway.traffic.services.keeper?.run ?? '';
  }

  #kept(one: PastRequest): KeptRequest {
    const { endpoints, epochUs } = this.#host.gateway;
    return keptOf(one, namedEndpoint(endpoints, one.endpoint), this.#run, epochUs);
  }

  #endedAt({ addedUs }: PastRequest): number {
    return this.#host.gateway.epochUs + addedUs;
  }

  #placeOf(one: PastRequest): RequestPlace {
    return { endedAt: this.#endedAt(one), gateway: this.#run, number: one.number };
  }

  /** Each endpoint is looked up once. */
  #sees({ endpoint }: PastRequest, name?: string): boolean {
    let place = this.#places.get(endpoint);
    if (place === undefined) {
      place = namedEndpoint(this.#host.gateway.endpoints, endpoint);
      this.#places.set(endpoint, place);
    }
    const isOwn = this.#workspaces === undefined || this.#workspaces.includes(place.workspace);
    return isOwn && (name === undefined || place.name === name);
  }
}

function fits(one: PastRequest, filter: RequestFilter, endedAt: number): boolean {
  const { outcome } = filter;
  return (
    (filter.idPrefix === undefined || one.id.startsWith(filter.idPrefix)) &&
    (filter.model === undefined || one.model === filter.model) &&
    (filter.keyId === undefined || one.keyId === filter.keyId) &&
    (filter.sloClass === undefined || one.sloClass === filter.sloClass) &&
    (filter.replica === undefined || one.replica === filter.replica) &&
    (outcome === undefined || (outcome === 'failed' ? one.outcome !== 'ok' : one.outcome === outcome)) &&
    (filter.minDurationUs === undefined || one.endedUs - one.arrivedUs >= filter.minDurationUs) &&
    (filter.minTtftUs === undefined ||
      (one.firstTokenUs >= 0 && one.firstTokenUs - one.arrivedUs >= filter.minTtftUs)) &&
    (filter.from === undefined || endedAt >= filter.from) &&
    (filter.to === undefined || endedAt < filter.to)
  );
}
