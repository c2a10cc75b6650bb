import type { ComparisonRow } from '../../report/text/comparison-table.js';
import { comparisonTable } from '../../report/text/comparison-table.js';
import { synthAgenticCoder } from '../../workload/synth/agentic-coder.js';
import type { AgenticOptions } from '../../workload/synth/agentic-sessions.js';
import { agenticStatistics } from '../../workload/synth/agentic-statistics.js';
import { PUBLISHED } from '../../workload/synth/published.js';
import type { Trace } from '../../workload/trace.js';
import { badChoice } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import { type CliIo, presentation } from '../io.js';
import type { SynthFlags } from './sources.js';

interface Synth {
  make(options: Partial<AgenticOptions>): Trace;
  /** Published statistics beside those of the generated trace. */
  compare(trace: Trace): ComparisonRow[];
}

/** Traces that can be generated: a new one is a line here. */
const SYNTHS: Readonly<Record<string, Synth>> = {
  'agentic-coder': { make: synthAgenticCoder, compare: compareAgenticCoder },
};

/** Generates a trace and prints on stderr how close it is to the published one. */
export function synthTrace(name: string, { values }: FlagValues<SynthFlags>, io: CliIo): Trace {
  if (!Object.hasOwn(SYNTHS, name)) throw badChoice('synth', name, Object.keys(SYNTHS));
  const { duration, requests, seed, sessions } = values;
  const trace = SYNTHS[name]!.make({
    seed,
    ...(requests === null ? {} : { requests }),
    ...(sessions === null ? {} : { sessions }),
    ...(duration === null ? {} : { durationS: duration }),
  });
  const rows = SYNTHS[name]!.compare(trace);
  io.stderr.write(comparisonTable(['published', 'generated'], rows, presentation(io, io.stderr)));
  return trace;
}

const STATISTICS: readonly [keyof typeof PUBLISHED, string, ComparisonRow['kind'], note?: string][] = [
  ['requests', 'requests', 'count'],
  ['sessions', 'sessions', 'count'],
  ['durationS', 'duration', 'seconds'],
  ['meanInput', 'input, mean', 'tokens'],
  ['meanOutput', 'output, mean', 'tokens'],
  ['prefillShare', 'tokens of prompts', 'share', 'the published means give 98.7 %'],
  ['insideShare', 'reuse inside sessions', 'share'],
  ['turnsP90', 'turns, p90', 'count'],
  ['turnsP99', 'turns, p99', 'count'],
  ['turnsMax', 'turns, max', 'count', 'published for the full trace, not for the sample'],
];

function compareAgenticCoder(trace: Trace): ComparisonRow[] {
  const found = agenticStatistics(trace);
  return STATISTICS.map(([key, name, kind, note]) => {
    const difference = found[key] / PUBLISHED[key] - 1;
    return {
      name,
      kind,
      expected: PUBLISHED[key],
      found: found[key],
      difference,
      ...(note === undefined ? {} : { note }),
    };
  });
}
