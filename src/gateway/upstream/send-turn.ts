/** Sends at the end of a turn. It does not throw. */
export interface Sender {
  flush(): void;
}

/**
 * Sends everything that gathered in a turn of the event loop at its end, for all connections to all replicas. A write
 * wakes the reading process, which costs more than the rest of a request; batched writes wake it once for several
 * requests, and it does not take the processor from other requests of the same turn.
 */
export class SendTurn {
  #waiting: Sender[] = [];
  #sent: Sender[] = [];

  /** Schedules a sender for the end of this turn. */
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

/** The turn of this process. */
export const sendTurn = new SendTurn();
