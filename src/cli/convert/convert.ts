import type { WorkloadSpec } from '../../workload/spec/workload-spec.js';
import type { Trace } from '../../workload/trace.js';
import { summaryOf } from '../commands.js';
import { refuseGiven } from '../config/flag-conflicts.js';
import { createDiagnostics, type Diagnostics } from '../diagnostics.js';
import { conflictingFlags, missingFlag, missingOperand, unknownSource } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { choiceFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { checkOutputs, type NamedPath } from '../output/output-files.js';
import { inputTrace } from '../trace/input-trace.js';
import {
  formatOfName,
  type OutputFormat,
  type OutputPlace,
  outputPlace,
  placePaths,
  type TraceOutputFlags,
  traceOutputFlags,
} from '../trace/output-place.js';
import { writePieces, writeTraceTo } from '../trace/write-place.js';
import { CONVERT_SOURCES, type SynthFlags, synthFlags } from './sources.js';

const FORMATS: readonly OutputFormat[] = ['trace-v2', 'mooncake', 'bailian', 'spec'];

const formatFlags = {
  to: choiceFlag({
    default: null,
    known: FORMATS,
    placeholder: 'format',
    defaultText: "by the output's name",
    help: 'output format: a trace, or a specification fitted to it',
  }),
};

export const CONVERT: CommandLine = {
  name: 'convert',
  summary: summaryOf('convert'),
  about:
    "Use it to bring traces of other systems into one format, or to turn a trace or another tool's configuration into a workload specification.",
  operands: { usage: '[SOURCE] FILE', least: 1, most: 2 },
  groups: [
    { title: 'Format', flags: formatFlags },
    { title: 'Generated traces', flags: synthFlags },
    { title: 'Output', flags: traceOutputFlags },
  ],
  more: async () => [
    {
      title: 'Sources',
      rows: [
        ['FILE', 'a trace of any format that can be read, recognised by its first bytes'],
        ...CONVERT_SOURCES.map(({ name, operand, summary }) => [`${name} ${operand}`, summary] as const),
      ],
    },
  ],
  examples: [
    'convert synth agentic-coder -o agents.csv',
    'convert agents.csv --to mooncake -o agents.jsonl.gz',
    'convert agents.jsonl.gz --to trace-v2 -o again.csv',
    'convert agents.csv --to spec -o agents-like.yaml',
  ],
};

type ConvertFlags = FlagValues<typeof formatFlags & SynthFlags & TraceOutputFlags>;

/** The input that the arguments name: its format is known, but it is not read yet. */
type Source = { files: readonly NamedPath[] } & (
  | { gives: 'spec'; read(): Promise<WorkloadSpec> }
  | { gives: 'trace'; jsonLines: OutputFormat; read(diagnostics: Diagnostics): Promise<Trace> }
);

export async function convert(argv: readonly string[], io: CliIo): Promise<number> {
  const flags: ConvertFlags = await parseFlags(CONVERT, argv);
  const source = await sourceOf(flags, io);
  const place = placeOf(flags, source);
  checkOutputs(placePaths(place), source.files);
  const diagnostics = createDiagnostics('warn', io);
  if (source.gives === 'spec') {
    await writeSpec(place, await source.read(), io);
    return 0;
  }
  const trace = await source.read(diagnostics);
  if (place.format === 'spec') await writeSpec(place, await fitted(trace, diagnostics), io);
  else await writeTraceTo(place, trace, diagnostics, io);
  return 0;
}

async function sourceOf(flags: ConvertFlags, io: CliIo): Promise<Source> {
  const [first, second] = flags.operands as [string, string | undefined];
  const source = CONVERT_SOURCES.find(({ name }) => name === first);
  if (source?.name !== 'synth') {
    const names = Object.keys(synthFlags) as (keyof SynthFlags)[];
    refuseGiven(flags, names, 'only generated traces have a size to choose', "leave it out, or convert 'synth'");
  }
  if (source === undefined) {
    const known = CONVERT_SOURCES.map(({ name }) => name);
    if (second !== undefined) throw unknownSource(first, known);
    return { gives: 'trace', jsonLines: 'mooncake', ...(await inputTrace(first)) };
  }
  if (second === undefined) throw missingOperand(`convert ${first}`, source.operand);
  if (source.gives === 'spec') {
    const files = source.operand === 'NAME' ? [] : [{ flag: source.operand, path: second }];
    return { gives: 'spec', files, read: () => source.read(second) };
  }
  return { gives: 'trace', jsonLines: source.jsonLines, files: [], read: () => source.read(second, flags, io) };
}

function placeOf({ values: { output, to } }: ConvertFlags, source: Source): OutputPlace {
  const { gives } = source;
  const named = output === null ? undefined : formatOfName(output);
  const meant = named === 'mooncake' && gives === 'trace' ? source.jsonLines : named;
  const format = (to as OutputFormat | null) ?? meant ?? (gives === 'spec' ? 'spec' : undefined);
  if (format === undefined) {
    throw missingFlag(
      '--to',
      "is required where the output's name does not end in a known format",
      `give one of ${FORMATS.join(', ')}`,
    );
  }
  if (gives === 'spec' && format !== 'spec') {
    const problem = `a specification has no requests to write as ${format}`;
    throw conflictingFlags(to === null ? '--output' : '--to', problem, "write it as 'spec', a YAML file");
  }
  return outputPlace(format, output);
}

async function fitted(trace: Trace, diagnostics: Diagnostics): Promise<WorkloadSpec> {
  const { fitWorkload } = await import('../../workload/fit/fit-workload.js');
  const { notes, spec } = fitWorkload(trace);
  for (const note of notes) diagnostics.warn(note);
  return spec;
}

async function writeSpec(place: OutputPlace, spec: WorkloadSpec, io: CliIo): Promise<void> {
  const { writeWorkloadSpec } = await import('../../workload/spec/write-workload-spec.js');
  await writePieces(place, [() => [writeWorkloadSpec(spec)]], io);
}
