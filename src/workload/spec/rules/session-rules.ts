import { hasUsers, isCohort, trafficOf } from '../walk.js';
import type { Rule } from './rule.js';

export const pausesAreGivenOnce: Rule = (spec, fail) => {
  for (const { path, traffic } of trafficOf(spec)) {
    const { think_time_us, think_time_distribution } = traffic.reasoning?.multi_turn ?? {};
    if (think_time_us === undefined || think_time_distribution === undefined) continue;
    const at = `${path}.reasoning.multi_turn.think_time_distribution`;
    throw fail(at, 'is given together with think_time_us', 'keep one of them');
  }
};

/** A session with a set beginning does not arrive at a rate. */
export const setBeginningsStandAlone: Rule = (spec, fail) => {
  for (const { path, traffic } of trafficOf(spec)) {
    const { start_us, single_session } = traffic.reasoning?.multi_turn ?? {};
    if (start_us === undefined) continue;
    if (!single_session) {
      const problem = 'only a single session can begin at a set time';
      throw fail(`${path}.reasoning.multi_turn.start_us`, problem, 'add single_session: true, or leave it out');
    }
    const others = isCohort(traffic) ? (['diurnal', 'spike', 'drain'] as const) : (['lifecycle'] as const);
    for (const key of ['rate_fraction', 'arrival', ...others] as (keyof typeof traffic)[]) {
      if (traffic[key] === undefined) continue;
      const problem = 'has no effect on a session that begins at start_us';
      throw fail(`${path}.${key}`, problem, 'leave one of them out');
    }
  }
};

export const closedLoopsNeedSessions: Rule = (spec, fail) => {
  for (const { path, traffic } of trafficOf(spec)) {
    if (!traffic.closed_loop || traffic.reasoning?.multi_turn !== undefined) continue;
    if (hasUsers(traffic)) continue;
    throw fail(
      `${path}.closed_loop`,
      'nothing follows a response',
      'add reasoning.multi_turn or concurrency, or leave it out',
    );
  }
};
