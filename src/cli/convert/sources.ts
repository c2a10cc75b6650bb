import type { WorkloadSpec } from '../../workload/spec/workload-spec.js';
import type { Trace } from '../../workload/trace.js';
import { badChoice } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import { count, numberFlag } from '../flags/kinds.js';
import type { CliIo } from '../io.js';
import type { OutputFormat } from '../trace/output-place.js';

/** The size of a generated trace. */
export const synthFlags = {
  seed: count({ default: 42, help: 'start of all random streams' }),
  requests: count({ default: null, min: 1, max: 1e7, defaultText: 'as published', help: 'number of requests' }),
  sessions: count({ default: null, min: 1, max: 1e7, defaultText: 'as published', help: 'number of sessions' }),
  duration: numberFlag({
    default: null,
    min: 1,
    max: 1e7,
    placeholder: 's',
    defaultText: 'as published',
    help: 'seconds from the first to the last arrival',
  }),
};

export type SynthFlags = typeof synthFlags;

/** An input that is not a trace file and can become a trace or a workload specification. */
interface SourceNames {
  name: string;
  /** What follows the name, as usage shows it. */
  operand: 'NAME' | 'FILE' | 'FOLDER';
  summary: string;
}

interface SpecSource extends SourceNames {
  gives: 'spec';
  read(operand: string): Promise<WorkloadSpec>;
}

interface TraceSource extends SourceNames {
  gives: 'trace';
  /** The format of JSON lines unless `--to` sets it. */
  jsonLines: OutputFormat;
  read(operand: string, flags: FlagValues<SynthFlags>, io: CliIo): Promise<Trace>;
}

/** Every source: a new one is an entry here. Each is loaded when it is used. */
export const CONVERT_SOURCES: readonly (SpecSource | TraceSource)[] = [
  {
    name: 'preset',
    operand: 'NAME',
    summary: 'the specification of a ready-made workload, as run --workload knows it',
    gives: 'spec',
    async read(name) {
      const { presetSpec, WORKLOADS } = await import('../../workload/generate/presets.js');
      if (!WORKLOADS.includes(name)) throw badChoice('preset', name, WORKLOADS);
      return presetSpec(name);
    },
  },
  {
    name: 'inference-perf',
    operand: 'FILE',
    summary: 'the specification of an inference-perf configuration with shared prefixes',
    gives: 'spec',
    async read(path) {
      const [{ readInferencePerf }, { readInputFile }] = await Promise.all([
        import('../../workload/spec/inference-perf/inference-perf.js'),
        import('../../workload/input-file.js'),
      ]);
      return readInferencePerf((await readInputFile(path)).toString('utf8'), path);
    },
  },
  {
    name: 'servegen',
    operand: 'FOLDER',
    summary: "the specification of a folder of ServeGen's data",
    gives: 'spec',
    read: async (folder) => (await import('../../workload/formats/servegen/servegen.js')).readServeGen(folder),
  },
  {
    name: 'synth',
    operand: 'NAME',
    summary: 'a generated trace: agentic-coder',
    gives: 'trace',
    jsonLines: 'bailian',
    read: async (name, flags, io) => (await import('./synth.js')).synthTrace(name, flags, io),
  },
];
