import type { LengthSampler } from '../lengths/length-distribution.js';
import { always } from '../lengths/length-distribution.js';
import { PAUSE, TOKENS } from '../lengths/limits.js';
import { lengthSampler } from '../lengths/registry.js';
import { CHAT_TIMEOUT_US, DEFAULT_PREFIX_TOKENS } from '../spec/limits.js';
import { hasUsers, isCohort } from '../spec/walk.js';
import type { ClientSpec, CohortSpec } from '../spec/workload-spec.js';
import { RequestLengths } from './request-lengths.js';
import type { ActiveTimes } from './schedules/active-times.js';
import { activeTimesOf, ownWindowsOf } from './schedules/patterns.js';
import type { Schedule } from './schedules/schedule.js';

/** How a client's sessions go. */
export interface ChatPlan {
  rounds: LengthSampler;
  pauseUs: LengthSampler;
  /** Fresh tokens of later turns; null: as those of the first. */
  laterInput: LengthSampler | null;
  grows: boolean;
  closed: boolean;
  single: boolean;
}

/** Users who wait for their responses. */
export interface UserPlan {
  thinkUs: number;
  /** When they may send; null for always. */
  active: ActiveTimes | null;
}

/** A client, or a cohort of equal members: all that is needed to create its requests. */
export interface Traffic {
  spec: ClientSpec | CohortSpec;
  members: number;
  schedule: Schedule;
  /** The client's own, then one for each of its windows. */
  lengths: readonly RequestLengths[];
  chat: ChatPlan | null;
  users: UserPlan | null;
  prefixTokens: number;
  /** 0 for none. */
  timeoutUs: number;
}

/** @param timeoutUs in place of the timeout in the specification; 0 for none */
export function planTraffic(spec: ClientSpec | CohortSpec, schedule: Schedule, timeoutUs: number | undefined): Traffic {
  const users = hasUsers(spec) ? { thinkUs: spec.think_time_us ?? 0, active: activeTimesOf(spec) } : null;
  const chat = planChat(spec);
  return {
    spec,
    members: isCohort(spec) ? spec.population : 1,
    schedule,
    lengths: [new RequestLengths(spec), ...ownWindowsOf(spec).map((window) => new RequestLengths(spec, window))],
    chat,
    users,
    prefixTokens: spec.prefix_group === undefined ? 0 : (spec.prefix_length ?? DEFAULT_PREFIX_TOKENS),
    timeoutUs: timeoutUs ?? spec.timeout ?? (chat !== null || users !== null ? CHAT_TIMEOUT_US : 0),
  };
}

function planChat({ reasoning, closed_loop = true }: ClientSpec | CohortSpec): ChatPlan | null {
  const chat = reasoning?.multi_turn;
  if (chat === undefined) return null;
  const { max_rounds, rounds_distribution, think_time_us = 0, think_time_distribution, input_distribution } = chat;
  return {
    rounds:
      rounds_distribution === undefined
        ? always(max_rounds)
        : lengthSampler(rounds_distribution, { least: 1, most: max_rounds }),
    pauseUs:
      think_time_distribution === undefined ? always(think_time_us) : lengthSampler(think_time_distribution, PAUSE),
    laterInput: input_distribution === undefined ? null : lengthSampler(input_distribution, TOKENS),
    grows: chat.context_growth === 'accumulate',
    closed: closed_loop,
    single: chat.single_session ?? false,
  };
}
