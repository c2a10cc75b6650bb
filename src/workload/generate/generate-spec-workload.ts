import { EventHeap } from '../../kernel/events/event-heap.js';
import { workloadImpossible, workloadTooLarge } from '../errors.js';
import { LATEST_US, MAX_REQUESTS } from '../spec/limits.js';
import type { WorkloadSpec } from '../spec/workload-spec.js';
import type { Workload } from '../workload.js';
import { planInferencePerf } from './inference-perf.js';
import { ARRIVAL_STREAM } from './members.js';
import { planClients } from './plan-schedules.js';
import { RequestMaker } from './request-maker.js';
import { endsByItself } from './spec-facts.js';
import { SpecSessions } from './spec-sessions.js';

/** Options besides the specification, mostly from the command line. */
export interface GenerateOptions {
  seed: number;
  /** Nothing arrives later; the earlier one of this and the specification's. */
  horizonUs?: number;
  /** In place of the specification's. */
  numRequests?: number;
  /** In place of the clients' own; 0 for none. */
  timeoutUs?: number;
}

/** The number of requests when nothing else ends a workload. */
export const DEFAULT_REQUESTS = 100;

/**
 * Generates the requests of a checked specification, in order of arrival: those that are known up front and, for
 * sessions and users who wait for responses, the driver that creates the others. Besides the table it holds only the
 * next event of every client and the state of every session.
 */
export function generateSpecWorkload(spec: WorkloadSpec, options: GenerateOptions): Workload {
  const horizonUs = Math.min(spec.horizon ?? Number.POSITIVE_INFINITY, options.horizonUs ?? Number.POSITIVE_INFINITY);
  const isBounded = horizonUs < Number.POSITIVE_INFINITY || endsByItself(spec);
  const requests = options.numRequests ?? spec.num_requests ?? (isBounded ? undefined : DEFAULT_REQUESTS);
  const expected = ((spec.aggregate_rate ?? 0) * horizonUs) / 1e6;
  if (requests === undefined && horizonUs < Number.POSITIVE_INFINITY && expected > MAX_REQUESTS) {
    throw workloadTooLarge(expected, MAX_REQUESTS);
  }
  const traffics =
    spec.inference_perf === undefined
      ? planClients(spec, horizonUs, options.timeoutUs)
      : planInferencePerf(spec.inference_perf, horizonUs, options.timeoutUs);
  const maker = new RequestMaker(traffics, options.seed, requests ?? Number.POSITIVE_INFINITY);
  makeKnown(maker, horizonUs);
  const { table } = maker;
  const waits = traffics.some(({ chat, users }) => users !== null || chat?.closed === true);
  return waits ? { table, sessions: new SpecSessions(maker, horizonUs) } : { table };
}

/** Requests that do not wait for responses, in order of time. */
function makeKnown(maker: RequestMaker, horizonUs: number): void {
  const { members, chats, table } = maker;
  // Members by their number; sessions with set times after them, by the number of their session.
  const events = new EventHeap();
  const schedule = (member: number) => {
    const { schedule: times } = maker.trafficOf(member);
    const own = member - members.first[members.traffic[member]!]!;
    const nextUs = times.next(own, members.stream(member, ARRIVAL_STREAM));
    if (nextUs < Number.POSITIVE_INFINITY) events.push(nextUs, member);
  };
  /** The next turn of a session with set times arrives a pause after a response that takes a microsecond per token. */
  const continueLater = (session: number, row: number) => {
    if (chats.made[session]! >= chats.rounds[session]!) return;
    const nextUs = table.arrivalUs[row]! + chats.pauseUs[session]! + table.outputTokens[row]!;
    if (nextUs <= horizonUs) events.push(nextUs, members.count + session);
  };

  for (let member = 0; member < members.count; member++) schedule(member);
  while (events.size > 0 && maker.budget > 0) {
    const atUs = events.nextUs;
    const event = events.pop();
    const isTurn = event >= members.count;
    const member = isTurn ? chats.member[event - members.count]! : event;
    const { spec, chat, users } = maker.trafficOf(member);
    if (atUs > LATEST_US) {
      const problem = `its next request arrives after ${LATEST_US / 1e6} s, before there are enough`;
      throw workloadImpossible(spec.id, problem, 'give a higher rate, fewer requests or a horizon');
    }
    if (isTurn) {
      continueLater(event - members.count, maker.turn(event - members.count, chat!, atUs));
      continue;
    }
    if (chat !== null) {
      const session = maker.beginChat(member, chat);
      const row = maker.turn(session, chat, atUs);
      if (!chat.closed) continueLater(session, row);
      if (chat.single) continue;
    } else {
      const row = maker.request(member, atUs);
      if (users !== null) maker.joinUser(member, row);
    }
    schedule(member);
  }
}
