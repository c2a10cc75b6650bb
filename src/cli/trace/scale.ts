import { above } from '../../schema/fields.js';
import { badValue, missingFlag } from '../errors.js';
import { listFlag } from '../flags/kinds.js';
import { readNumber } from '../flags/read-number.js';
import type { CliIo } from '../io.js';
import { changeCommand, changeTrace } from './change-trace.js';

const FACTOR = "a factor, as in '2x' or '0.5x'";

const scaleFlags = {
  rate: listFlag<number | null>({
    default: null,
    placeholder: 'factor',
    accepted: FACTOR,
    read: readFactor,
    help: 'factor by which sessions and requests start more often; pauses inside sessions stay',
  }),
};

export const TRACE_SCALE = changeCommand('scale', 'Use it to ask what happens at twice the load.', scaleFlags, [
  'trace scale --rate 2x agents.csv -o busy.csv',
]);

export async function scale(argv: readonly string[], io: CliIo): Promise<number> {
  return changeTrace<typeof scaleFlags>(TRACE_SCALE, argv, io, async ({ values: { rate } }) => {
    if (rate === null) throw missingFlag('--rate', 'is required', `give ${FACTOR}`);
    const { scaleRate } = await import('../../workload/tools/scale-rate.js');
    return (trace) => {
      const scaled = scaleRate(trace, rate);
      if (scaled === null) throw badValue('--rate', `${rate}x`, 'makes the trace too long', 'a larger factor');
      return scaled;
    };
  });
}

/** A bare number is refused: in other commands `--rate` is in requests per second. */
function readFactor(text: string, place: string): number {
  const match = /^(.+)x$/i.exec(text.trim());
  if (match === null) throw badValue(place, text, 'is not a factor', FACTOR);
  return readNumber(match[1]!, place, above(0, 1e6));
}
