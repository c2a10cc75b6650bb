/** Decides which control plane of a store leads, in place of the store's own lease. */
export interface Election {
  /** Equal for all that take part in it. */
  readonly name: string;
  /** Whether this process may act as the leader. Read before each action: it ends without notice. */
  readonly isHeld: boolean;
  /** Another process can lead at once. */
  release(): Promise<void>;
}

/** A control plane that takes part in an election. */
export interface LeadCandidate {
  /** The same after a crash, and of no other process that runs. */
  readonly identity: string;
  /** Whether it can take over; read when no process leads. */
  mayLead(): Promise<boolean>;
  /** Whether it can go on as the leader; false: another process has to. */
  isAble(): boolean;
  changed(isHeld: boolean): void;
}

/** Takes part in an election; resolves after the first attempt. */
export type Elect = (candidate: LeadCandidate) => Promise<Election>;
