import type { TuneDocument } from '../../experiment/tune/tune-document.js';
import { summaryOf } from '../commands.js';
import { givenSettings } from '../compare/given-settings.js';
import { createDiagnostics } from '../diagnostics.js';
import { commandText } from '../execution/command-text.js';
import type { ExecutionFlags } from '../execution/execution-flags.js';
import { keepFound, openExecutor } from '../execution/open-executor.js';
import { printResult } from '../execution/print-result.js';
import { signalCleanUps } from '../execution/signal-clean-ups.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { checkOutputs, type OutputContent } from '../output/output-files.js';
import { limitCompiler } from '../tune-v8.js';
import { TUNE_FILE, type TuneOutputFlags, type TuningFlags, tuneGroups } from './tune-flags.js';

export const TUNE: CommandLine = {
  name: 'tune',
  summary: summaryOf('tune'),
  about:
    'Finds the routing policy, weights, options, admission and queue for your traffic, and says what they gain on requests that ' +
    'they were not tuned on. Traces are tuned on their first part and judged on the rest. A file with ' +
    "'kind: Tune' describes the same; flags win over it.",
  operands: { usage: '[tune.yaml]', least: 0, most: 1 },
  groups: tuneGroups,
  examples: [
    'tune --model qwen/qwen3-14b --num-instances 4 --workload chatbot --rate 40 --format table --output tuned.yaml',
    'tune --model qwen/qwen3-14b --num-instances 4 --trace traffic.jsonl --objective ttft_p99 --output tuned.yaml',
    "tune --model qwen/qwen3-14b --workload mixed-slo --rate 60 --objective cost --fleet-sizes 2,3,4,6 --constraint 'ttft_p99<=2s'",
  ],
};

/** Searches for better policies on all cores. */
export async function tune(argv: readonly string[], io: CliIo): Promise<number> {
  const flags = await parseFlags<TuningFlags & ExecutionFlags & TuneOutputFlags>(TUNE, argv);
  const { operands, values } = flags;
  const outputs = (['output', 'report'] as const).flatMap((name) => {
    const path = values[name];
    return path === null ? [] : [{ flag: `--${name}`, path }];
  });
  const given = givenSettings(flags);
  const path = operands[0];
  checkOutputs(outputs, [...given.inputs, ...(path === undefined ? [] : [{ flag: 'the experiment', path }])]);
  const diagnostics = createDiagnostics(values.log, io);
  const signals = signalCleanUps(io);
  limitCompiler(Number.POSITIVE_INFINITY);
  const label = { title: 'Tune', command: commandText('tune', argv, TUNE) };
  const executor = await openExecutor(flags, label, signals, diagnostics);
  try {
    const [{ withExperimentFile }, { planTuning }, { tuneFleets }, { createPlanRuns }, { runCacheOf }] =
      await Promise.all([
        import('../compare/experiment-file.js'),
        import('./plan-tuning.js'),
        import('../../experiment/tune/tune-fleets.js'),
        import('../execution/plan-runs.js'),
        import('../execution/run-cache-of.js'),
      ]);
    const cache = await runCacheOf(flags, io.env, diagnostics);
    const read = await withExperimentFile(TUNE_FILE, path, flags, given.settings);
    const simulation = createPlanRuns({ executor, cache, signals, io, diagnostics });
    const inputs = await planTuning(read.flags, read.settings, diagnostics);
    const document = await tuneFleets(inputs, simulation.simulate).finally(simulation.end);
    for (const warning of document.warnings) diagnostics.warn(warning);
    await keepFound(executor, { kind: 'Tune', found: document }, values.executor, io);
    const files = await policyFile(values.output, document);
    await printResult({ kind: 'Tune', found: document }, values, { ...io, beforeSignal: signals.add }, files);
    return 0;
  } finally {
    await executor.close();
  }
}

async function policyFile(path: string | null, document: TuneDocument): Promise<OutputContent[]> {
  if (path === null) return [];
  const { policyFileText } = await import('../../report/tune/policy-file.js');
  const text = await policyFileText(document);
  return [{ flag: '--output', path, pieces: () => [text] }];
}
