import type { TracePart } from '../../workload/trace.js';
import type { FlagValues } from './flag.js';
import { stringFlag, toggle } from './kinds.js';

/** Which requests of recorded traffic to read. */
export const tracePartFlags = {
  'trace-model': stringFlag({
    default: null,
    placeholder: 'name',
    defaultText: 'all',
    help: 'of recorded traffic, only requests for this model',
  }),
  'trace-answered': toggle({ help: 'of recorded traffic, only requests with a complete response' }),
};

export type TracePartFlags = typeof tracePartFlags;

/** The part that the flags select; undefined without flags. */
export function tracePartOf({ values }: FlagValues<TracePartFlags>): TracePart | undefined {
  const { 'trace-answered': answered, 'trace-model': model } = values;
  if (!answered && model === null) return undefined;
  return { ...(model === null ? {} : { model }), ...(answered ? { answered } : {}) };
}
