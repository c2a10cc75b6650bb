import type { Trace } from '../trace.js';
import type { ThinkTime } from './think-time.js';
import type { TraceSessions } from './trace-sessions.js';

/**
 * The pause before every later turn, by row of the trace: drawn from `thinkTime` if there is one, else as recorded if any
 * turn of the session recorded one, else the time between the recorded arrivals. Drawn in file order, before anything runs: two
 * policies under comparison see the same pauses.
 */
export function pausesBeforeRounds(trace: Trace, sessions: TraceSessions, thinkTime: ThinkTime | null): Float64Array {
  const { table, thinkTimeUs, wantedUs } = trace;
  const pauses = new Float64Array(table.count);
  if (thinkTime !== null) {
    for (let row = 0; row < table.count; row++) {
      if (table.session[row]! > 0 && table.round[row]! > 0) pauses[row] = thinkTime();
    }
    return pauses;
  }
  for (let session = 1; session < table.sessions.size; session++) {
    const rounds = sessions.rounds(session);
    let recorded = false;
    for (let round = 1; thinkTimeUs !== null && round < rounds && !recorded; round++) {
      recorded = thinkTimeUs[sessions.row(session, round)]! > 0;
    }
    for (let round = 1; round < rounds; round++) {
      const row = sessions.row(session, round);
      const gap = wantedUs[row]! - wantedUs[sessions.row(session, round - 1)]!;
      pauses[row] = recorded ? thinkTimeUs![row]! : Math.max(0, gap);
    }
  }
  return pauses;
}
