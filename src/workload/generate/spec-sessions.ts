import { type RequestTable, ROW_FOLLOW_UP, setSourceId } from '../request-table.js';
import type { SessionDriver } from '../workload.js';
import type { RequestMaker } from './request-maker.js';
import type { ChatPlan, UserPlan } from './traffic.js';

/** Creates the next requests of sessions and of users who wait for responses, while the simulation runs. */
export class SpecSessions implements SessionDriver {
  readonly #maker: RequestMaker;
  readonly #horizonUs: number;
  #followUps = 0;

  constructor(maker: RequestMaker, horizonUs: number) {
    this.#maker = maker;
    this.#horizonUs = horizonUs;
  }

  left(table: RequestTable, row: number, completed: boolean, atUs: number, horizonUs: number): number {
    const session = table.session[row]!;
    if (session === 0) return -1;
    const lastUs = Math.min(horizonUs, this.#horizonUs);
    const { chat, users } = this.#maker.trafficOf(this.#maker.chats.member[session]!);
    const next =
      users !== null
        ? this.#ask(table, row, users, completed, atUs, lastUs)
        : this.#continue(session, chat!, completed, atUs, lastUs);
    if (next < 0) return -1;
    setSourceId(table, next, ++this.#followUps);
    table.flags[next]! |= ROW_FOLLOW_UP;
    return next;
  }

  /** A user whose request is lost continues in the same way: the number of active users stays as specified. */
  #ask(table: RequestTable, row: number, users: UserPlan, completed: boolean, atUs: number, lastUs: number): number {
    // A loss takes effect at once. The next request must be at least a microsecond later, or cause and effect would
    // have the same time.
    const wantedUs = atUs + (completed ? users.thinkUs : Math.max(1, users.thinkUs));
    const arrivalUs = users.active === null ? wantedUs : users.active.firstFrom(wantedUs);
    if (this.#maker.budget <= 0 || arrivalUs > lastUs || arrivalUs === Number.POSITIVE_INFINITY) return -1;
    const next = this.#maker.request(this.#maker.chats.member[table.session[row]!]!, arrivalUs);
    table.session[next] = table.session[row]!;
    table.round[next] = table.round[row]! + 1;
    return next;
  }

  /** A session is over when a turn is lost; one with set times has all its turns already. */
  #continue(session: number, chat: ChatPlan, completed: boolean, atUs: number, lastUs: number): number {
    const { chats } = this.#maker;
    if (!completed || !chat.closed || chats.made[session]! >= chats.rounds[session]!) return -1;
    const arrivalUs = atUs + chats.pauseUs[session]!;
    return arrivalUs > lastUs ? -1 : this.#maker.turn(session, chat, arrivalUs);
  }
}
