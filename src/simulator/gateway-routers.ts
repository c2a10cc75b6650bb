import type { Explanation } from '../policy/explanation.js';
import type { PolicyHost } from '../policy/host/policy-host.js';
import type { RequestTable } from '../workload/request-table.js';
import type { Router } from './router.js';

/** What a cluster asks of its router, or of several. */
export type RequestRouter = Pick<
  Router,
  'host' | 'look' | 'lookAtFleet' | 'refuse' | 'pick' | 'placed' | 'firstToken' | 'left'
> & { readonly signals: Pick<Router['signals'], 'moved' | 'read' | 'nextUs'> };

/**
 * Several gateways in front of one fleet. Each counts the requests that it has placed and remembers the prompts that it has
 * seen; of the others it knows what replicas report. A session stays with a gateway, as on a kept connection; requests without
 * one take the gateways in turn.
 */
export class GatewayRouters implements RequestRouter {
  readonly signals: RequestRouter['signals'];
  readonly #routers: readonly Router[];
  readonly #table: RequestTable;
  /** That of the last `look`. */
  #current: Router;

  constructor(routers: readonly Router[], table: RequestTable) {
    this.#routers = routers;
    this.#table = table;
    const [first] = routers;
    this.#current = first!;
    this.signals = {
      // All read at the same time.
      get nextUs() {
        return first!.signals.nextUs;
      },
      moved: (replica) => this.#moved(replica),
      read: (nowUs) => this.#read(nowUs),
    };
  }

  get host(): PolicyHost {
    return this.#current.host;
  }

  look(row: number, nowUs: number): void {
    this.#current = this.#of(row);
    this.#current.look(row, nowUs);
  }

  lookAtFleet(nowUs: number): void {
    this.#current.lookAtFleet(nowUs);
  }

  refuse(): string | null {
    return this.#current.refuse();
  }

  pick(row: number, why?: Explanation): number {
    return this.#current.pick(row, why);
  }

  placed(row: number, replica: number): void {
    this.#current.placed(row, replica);
  }

  firstToken(row: number, atUs: number): void {
    this.#of(row).firstToken(row, atUs);
  }

  left(row: number, atUs: number, completed: boolean): void {
    this.#of(row).left(row, atUs, completed);
  }

  #moved(replica: number): void {
    for (const router of this.#routers) router.signals.moved(replica);
  }

  #read(nowUs: number): void {
    for (const router of this.#routers) router.signals.read(nowUs);
  }

  #of(row: number): Router {
    const session = this.#table.session[row]!;
    return this.#routers[(session === 0 ? row : session) % this.#routers.length]!;
  }
}
