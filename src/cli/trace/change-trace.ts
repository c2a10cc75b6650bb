import type { Trace, TracePart } from '../../workload/trace.js';
import { createDiagnostics } from '../diagnostics.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagTable, FlagValues } from '../flags/flag.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { checkOutputs } from '../output/output-files.js';
import { inputTrace } from './input-trace.js';
import {
  formatOfName,
  type OutputFormat,
  outputPlace,
  placePaths,
  type TraceOutputFlags,
  traceOutputFlags,
} from './output-place.js';
import { traceSummaryOf } from './trace.js';
import { writeTraceTo } from './write-place.js';

export const ONE_FILE = { usage: 'FILE', least: 1, most: 1 };

/** Makes the trace that the examples use. */
export const EXAMPLE_TRACE = 'convert synth agentic-coder -o agents.csv';

/** The command line of a command that reads a trace, changes it and writes it. */
export function changeCommand(name: string, about: string, flags: FlagTable, examples: readonly string[]): CommandLine {
  const own = Object.keys(flags).length === 0 ? [] : [{ title: 'Change', flags }];
  return {
    name: `trace ${name}`,
    summary: traceSummaryOf(name),
    about,
    operands: ONE_FILE,
    groups: [...own, { title: 'Output', flags: traceOutputFlags }],
    examples: [EXAMPLE_TRACE, ...examples],
  };
}

/**
 * Runs such a command. `prepare` checks the command's own flags before anything is read, and returns the change; `partOf`
 * selects the requests that are read.
 */
export async function changeTrace<Table extends FlagTable>(
  line: CommandLine,
  argv: readonly string[],
  io: CliIo,
  prepare: (flags: FlagValues<Table & TraceOutputFlags>) => Promise<(trace: Trace) => Trace>,
  partOf: (flags: FlagValues<Table & TraceOutputFlags>) => TracePart | undefined = () => undefined,
): Promise<number> {
  const flags = await parseFlags<Table & TraceOutputFlags>(line, argv);
  const change = await prepare(flags);
  const input = await inputTrace(flags.operands[0]!, partOf(flags));
  const output: string | null = flags.values.output;
  const place = outputPlace(formatFor(output, input.format.name), output);
  checkOutputs(placePaths(place), input.files);
  const diagnostics = createDiagnostics('warn', io);
  await writeTraceTo(place, change(await input.read(diagnostics)), diagnostics, io);
  return 0;
}

/** JSON lines keep their format unless the output's name sets another; all others become a TraceV2. */
function formatFor(output: string | null, inputFormat: string): OutputFormat {
  const named = output === null ? undefined : formatOfName(output);
  if (named === 'trace-v2') return named;
  if (inputFormat === 'mooncake' || inputFormat === 'bailian') return inputFormat;
  return named === 'mooncake' ? named : 'trace-v2';
}
