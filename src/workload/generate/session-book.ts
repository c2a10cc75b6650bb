import { StreamBank } from './stream-bank.js';

/**
 * The sessions that have begun, by session number of the table. Each draws all its turns from its own stream, so that a
 * turn depends only on its session: not on its time, nor on other sessions.
 */
export class SessionBook {
  readonly streams = new StreamBank(64);
  member = new Int32Array(64);
  /** Which of the client's lengths its turns have. */
  lengths = new Int32Array(64);
  rounds = new Int32Array(64);
  /** Turns created so far. */
  made = new Int32Array(64);
  lastRow = new Int32Array(64);
  /** Before the next turn. */
  pauseUs = new Float64Array(64);

  /** Reserves the state of a session. */
  reserve(session: number): void {
    this.streams.reserve(session);
    if (session < this.member.length) return;
    const capacity = Math.max(session + 1, this.member.length * 2);
    this.member = grown(this.member, new Int32Array(capacity));
    this.lengths = grown(this.lengths, new Int32Array(capacity));
    this.rounds = grown(this.rounds, new Int32Array(capacity));
    this.made = grown(this.made, new Int32Array(capacity));
    this.lastRow = grown(this.lastRow, new Int32Array(capacity));
    this.pauseUs = grown(this.pauseUs, new Float64Array(capacity));
  }
}

function grown<T extends Int32Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
