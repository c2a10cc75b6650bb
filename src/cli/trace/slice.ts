import type { Trace } from '../../workload/trace.js';
import { conflictingFlags, missingFlag, nothingLeft } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import { count, listFlag } from '../flags/kinds.js';
import { readDuration } from '../flags/read-list.js';
import { tracePartFlags, tracePartOf } from '../flags/trace-part-flags.js';
import type { CliIo } from '../io.js';
import { changeCommand, changeTrace } from './change-trace.js';

const sliceFlags = {
  ...tracePartFlags,
  from: time('keep requests that arrive from this time on, counted from the first arrival; it becomes time 0'),
  to: time('keep requests that arrive before this time, counted from the first arrival'),
  sessions: count({ default: null, min: 1, help: 'of these, keep the first n sessions and nothing outside sessions' }),
  first: count({ default: null, min: 1, help: 'of these, keep the first n requests' }),
};

function time(help: string) {
  const accepted = "a time with its unit, as in '90s' or '10m'";
  return listFlag<number | null>({ default: null, placeholder: 'time', accepted, read: readDuration, help });
}

export const TRACE_SLICE = changeCommand('slice', 'Use it to study a part of a long trace.', sliceFlags, [
  'trace slice --from 10m --to 20m agents.csv -o ten-minutes.csv',
  'trace slice --first 100 agents.csv -o start.csv',
]);

export async function slice(argv: readonly string[], io: CliIo): Promise<number> {
  const prepare = async (flags: FlagValues<typeof sliceFlags>) => {
    const { from, to, sessions, first } = flags.values;
    checkSlice(flags);
    const { sliceTrace } = await import('../../workload/tools/slice-trace.js');
    return (trace: Trace) => {
      const part = sliceTrace(trace, {
        ...(from === null ? {} : { fromUs: from }),
        ...(to === null ? {} : { toUs: to }),
        ...(sessions === null ? {} : { sessions }),
        ...(first === null ? {} : { first }),
      });
      if (part !== null) return part;
      if (sessions !== null && trace.table.sessions.size === 1)
        throw nothingLeft('--sessions', 'the trace has no sessions');
      throw nothingLeft(from === null ? '--to' : '--from', 'no request arrives in that time');
    };
  };
  return changeTrace<typeof sliceFlags>(TRACE_SLICE, argv, io, prepare, tracePartOf);
}

function checkSlice(flags: FlagValues<typeof sliceFlags>): void {
  const { from, to, sessions, first } = flags.values;
  const isWhole = from === null && to === null && sessions === null && first === null;
  if (isWhole && tracePartOf(flags) === undefined) {
    const hint = 'give --from, --to, --sessions, --first, --trace-model or --trace-answered';
    throw missingFlag('--from', 'or another selection is required', hint);
  }
  if (from !== null && to !== null && from >= to) {
    throw conflictingFlags('--to', 'is not after --from', 'give a later time');
  }
}
