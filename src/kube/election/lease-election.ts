import { KubeStatusError, leaseNotReleased, leaseNotRenewed, leaseNotUsable } from '../errors.js';
import { LeaseCalls, type LeaseClient } from './lease-calls.js';
import type { LeaseName } from './lease-name.js';
import { heldSpec, holderOf, LEASE_S, type LeaseObject, releasedSpec } from './lease-object.js';

/** How often the holder renews it, and the others look at it. */
const EVERY_MS = 2000;
/** A holder that could not renew it for so long stops: five seconds before another one can begin. */
const HELD_MS = 10_000;

export interface ElectionOptions {
  readonly client: LeaseClient;
  readonly lease: LeaseName;
  /** Of this process. After a crash, one with the same identity goes on at once. */
  readonly identity: string;
  /** Whether it can lead; read when the Lease is free. */
  readonly mayLead: () => Promise<boolean>;
  /** Whether it still can while it holds the Lease; false: it is released for another one. */
  readonly isAble: () => boolean;
  /** Called when it is held, and when it is not any more. */
  readonly changed: (isHeld: boolean) => void;
  /** Called with what keeps it from being held, once for each problem. */
  readonly onProblem: (line: string) => void;
  /** In milliseconds, running on while the process is stopped. */
  readonly clock?: () => number;
  /** In milliseconds since 1970, running on while the machine is suspended. It may be wrong, and may be set. */
  readonly wallClock?: () => number;
}

/**
 * Leader election by a Lease. A process leads while it renews the Lease: without a renewal it stops after 10 seconds by its own
 * clock, also if it was suspended meanwhile. Another one takes the Lease over when it has seen it unchanged for 15 seconds by
 * its own clock. Times in the Lease are never compared with a clock: those of two machines may differ by hours.
 */
export class LeaseElection {
  readonly name: string;
  readonly #options: ElectionOptions;
  readonly #calls: LeaseCalls;
  readonly #clock: () => number;
  readonly #wallClock: () => number;
  #timer: NodeJS.Timeout | undefined;
  #isReleased = false;
  /** As last read or written; null: there is none. */
  #lease: LeaseObject | null = null;
  /** When it was last seen to change; null: it has never been seen. */
  #changedAt: number | null = null;
  /** The last renewal, by both clocks, from before it was sent; null: it is not held. */
  #renewed: { readonly at: number; readonly wall: number } | null = null;
  #wasHeld = false;
  #problem: string | null = null;
  #turning: Promise<void> | null = null;

  private constructor(options: ElectionOptions) {
    const { client, clock = () => performance.now(), lease, wallClock = Date.now } = options;
    this.name = `${lease.namespace}/${lease.name}`;
    this.#options = options;
    this.#calls = new LeaseCalls(client, lease);
    this.#clock = clock;
    this.#wallClock = wallClock;
  }

  /** Takes part from now on; resolves after the first attempt. */
  static async open(options: ElectionOptions): Promise<LeaseElection> {
    const election = new LeaseElection(options);
    election.#timer = setInterval(() => election.#tick(), EVERY_MS).unref();
    election.#tick();
    await election.#turning;
    return election;
  }

  /** Whether this process may act as the leader. Read before each action: it ends without notice. */
  get isHeld(): boolean {
    const renewed = this.#renewed;
    if (renewed === null) return false;
    return this.#clock() < renewed.at + HELD_MS && this.#wallClock() < renewed.wall + HELD_MS;
  }

  /** Takes part no longer; another process can take the Lease at once. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    this.#isReleased = true;
    // It could renew the Lease after its release.
    await this.#turning;
    await this.#giveUp().catch((error: Error) => {
      this.#options.onProblem(leaseNotReleased(this.name, LEASE_S, problemOf(error)));
    });
  }

  /** Also while an attempt is under way: the end of the time is noticed without a response. */
  #tick(): void {
    if (this.#isReleased) return;
    this.#notice();
    this.#turning ??= this.#turn()
      .then(
        () => {
          this.#problem = null;
        },
        (error: Error) => this.#failed(error),
      )
      .then(() => {
        this.#turning = null;
        this.#notice();
      });
  }

  #notice(): void {
    const { isHeld } = this;
    if (isHeld === this.#wasHeld) return;
    this.#wasHeld = isHeld;
    if (!isHeld && this.#renewed !== null) {
      this.#options.onProblem(leaseNotRenewed(this.name, HELD_MS / 1000, this.#problem ?? 'no response'));
    }
    this.#options.changed(isHeld);
  }

  #failed(error: Error): void {
    const problem = problemOf(error);
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (!this.isHeld) this.#options.onProblem(leaseNotUsable(this.name, problem));
  }

  async #turn(): Promise<void> {
    const { identity, isAble, mayLead } = this.#options;
    if (holderOf(this.#lease) === identity && this.#renewed !== null) {
      if (!isAble()) return this.#giveUp();
      if (await this.#write(this.#lease!)) return;
    }
    // Changed by others, or not ours: it is read again.
    const lease = await this.#calls.get();
    this.#see(lease);
    if (holderOf(lease) !== identity) this.#renewed = null;
    const waitMs = this.#waitMs(lease);
    // It ends between two looks.
    if (waitMs > 0 && waitMs < EVERY_MS) setTimeout(() => this.#tick(), Math.ceil(waitMs)).unref();
    if (waitMs > 0) return;
    const isOurs = holderOf(lease) === identity;
    if (!isOurs && !(await mayLead())) return;
    if ((await this.#write(lease)) && !isOurs) await this.#report('became leader');
  }

  #see(lease: LeaseObject | null): void {
    const isSame = this.#changedAt !== null && JSON.stringify(lease?.spec) === JSON.stringify(this.#lease?.spec);
    // A Lease that was deleted has been held until now: its holder creates it again, or stops.
    if (lease === null && this.#lease !== null) return;
    this.#lease = lease;
    if (!isSame) this.#changedAt = this.#clock();
  }

  /** How long another process may still act as its holder; 0: it is free, or ours. */
  #waitMs(lease: LeaseObject | null): number {
    const known = lease ?? this.#lease;
    const holder = holderOf(known);
    if (holder === null || holder === this.#options.identity) return 0;
    const heldMs = 1000 * (known!.spec?.leaseDurationSeconds ?? LEASE_S);
    return Math.max(0, this.#changedAt! + heldMs - this.#clock());
  }

  /** Writes that this process holds it; false: others have changed it meanwhile. @param before null: there is none */
  async #write(before: LeaseObject | null): Promise<boolean> {
    const { identity } = this.#options;
    const sent = { at: this.#clock(), wall: this.#wallClock() };
    // One that was deleted goes on counting.
    const spec = heldSpec((before ?? this.#lease)?.spec, identity, sent.wall);
    try {
      this.#lease = await (before === null ? this.#calls.create(spec) : this.#calls.update(before, spec));
    } catch (error) {
      const status = error instanceof KubeStatusError ? error.status : 0;
      if (status === 409 || (status === 404 && before !== null)) return false;
      throw error;
    }
    this.#changedAt = this.#clock();
    this.#renewed = sent;
    this.#notice();
    return true;
  }

  async #giveUp(): Promise<void> {
    const lease = this.#lease;
    const isOurs = this.#renewed !== null && holderOf(lease) === this.#options.identity;
    this.#renewed = null;
    if (!isOurs) return;
    this.#lease = await this.#calls.update(lease!, releasedSpec(lease!.spec!, this.#wallClock()));
    await this.#report('stopped leading');
  }

  /** A leader without the right to create events leads nevertheless. */
  async #report(what: string): Promise<void> {
    const { identity, onProblem } = this.#options;
    await this.#calls.report(this.#lease!, identity, what, this.#wallClock()).catch((error: Error) => {
      onProblem(`Lease ${this.name}: the change of leader is not in its events (${error.message})`);
    });
  }
}

const problemOf = ({ message, name }: Error) =>
  name === 'TimeoutError' ? 'the Kubernetes API does not respond' : message;
