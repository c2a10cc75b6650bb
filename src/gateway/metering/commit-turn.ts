/** A response that waits until the journal has the usage of its request. */
export interface Journalled {
  journalled(): void;
}

/**
 * Commits once for all requests that end in one turn of the event loop, then calls them: a write costs as much as
 * several requests otherwise do. Where there is nothing to commit they are called at the end of the turn all the same,
 * because responses sent together wake the clients less often.
 */
export class CommitTurn {
  readonly #journal: { commit(): void } | null;
  #waiting: Journalled[] = [];
  #called: Journalled[] = [];

  constructor(journal: { commit(): void } | null) {
    this.#journal = journal;
  }

  /** Calls back at the end of this turn, when the added usage is in the journal. */
  wait(one: Journalled): void {
    if (this.#waiting.push(one) === 1) setImmediate(endTurn, this);
  }

  /** Commits, and calls those that wait in their order. */
  end(): void {
    const waiting = this.#waiting;
    this.#waiting = this.#called;
    this.#called = waiting;
    this.#journal?.commit();
    for (let i = 0; i < waiting.length; i++) waiting[i]!.journalled();
    waiting.length = 0;
  }
}

function endTurn(turn: CommitTurn): void {
  turn.end();
}
