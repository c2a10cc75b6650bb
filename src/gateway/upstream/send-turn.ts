/** Something that sends when its turn ends. It does not throw. */
export interface Sender {
  flush(): void;
}

/**
 * Sends at the end of a turn of the event loop what gathered in it, for all connections to all replicas. A write wakes the
 * process that reads, which costs more than the rest of a request; written to in one go, it wakes once for several requests and
 * does not take the processor from the requests behind in the same turn.
 */
export class SendTurn {
  #waiting: Sender[] = [];
  #sent: Sender[] = [];

  /** Lets one send at the end of this turn. */
  wait(sender: Sender): void {
    if (this.#waiting.push(sender) === 1) setImmediate(endTurn, this);
  }

  end(): void {
    const waiting = this.#waiting;
    this.#waiting = this.#sent;
    this.#sent = waiting;
    for (let i = 0; i < waiting.length; i++) waiting[i]!.flush();
    waiting.length = 0;
  }
}

function endTurn(turn: SendTurn): void {
  turn.end();
}

/** The one of this process. */
export const sendTurn = new SendTurn();
