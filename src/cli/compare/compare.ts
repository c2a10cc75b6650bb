import { availableParallelism } from 'node:os';
import type { Comparison } from '../../experiment/comparison/comparison.js';
import { runsOf } from '../../experiment/experiment.js';
import { createExecutor } from '../../experiment/runs/worker-pool.js';
import { shownText } from '../../kernel/text/shown-text.js';
import { documentJson } from '../../report/text/document-json.js';
import { summaryOf } from '../commands.js';
import { createDiagnostics } from '../diagnostics.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, presentation } from '../io.js';
import { checkOutputs, writeOutputs } from '../output/output-files.js';
import { limitCompiler } from '../tune-v8.js';
import { type ComparisonFlags, type ComparisonOutputFlags, compareGroups } from './compare-flags.js';
import { givenSettings } from './given-settings.js';
import { signalCleanUps } from './signal-clean-ups.js';

export const COMPARE: CommandLine = {
  name: 'compare',
  summary: summaryOf('compare'),
  about:
    'Use it to choose a policy or a configuration: every variant runs with the same requests and seeds, and each difference is reported with its confidence interval.',
  groups: compareGroups,
  examples: [
    'compare --preset routing --format table --report routing.html',
    'compare --model qwen/qwen3-14b --num-instances 4 --rate 50,100,200 --routing-policy round-robin,least-loaded',
    'compare --model qwen/qwen3-14b --num-instances 2,4,8 --rate 60 --num-requests 2000 --slo-ttft 500ms --report sizes.html',
    'compare --config today.yaml --config tomorrow.yaml --trace-data monday.csv --format table',
  ],
};

/** Simulates every variant with every seed, on all cores, and reports what differs. */
export async function compare(argv: readonly string[], io: CliIo): Promise<number> {
  const { configs, rest } = takeConfigs(argv);
  const flags = await parseFlags<ComparisonFlags & ComparisonOutputFlags>(COMPARE, rest);
  const { values } = flags;
  const { inputs, settings: given } = givenSettings(flags);
  const outputs = values.report === null ? [] : [{ flag: '--report', path: values.report }];
  checkOutputs(outputs, [...configs.map((path) => ({ flag: '--config', path })), ...inputs]);
  const diagnostics = createDiagnostics(values.log, io);
  const signals = signalCleanUps(io);
  // Many runs are worth optimising for, even short ones. Workers inherit this when they start.
  limitCompiler(Number.POSITIVE_INFINITY);
  const executor = await createExecutor(values.workers ?? availableParallelism());
  try {
    const [{ compareRuns }, { planExperiment }, { simulateAll }, { runCacheOf }] = await Promise.all([
      import('../../experiment/comparison/comparison.js'),
      import('./plan-experiment.js'),
      import('./simulate-all.js'),
      import('./run-cache-of.js'),
    ]);
    const cache = await runCacheOf(flags, io.env, diagnostics);
    const surroundings = { executor, cache, signals, io, diagnostics };
    const experiment = await planExperiment(flags, configs, given, diagnostics, (runs) =>
      simulateAll(runs, surroundings),
    );
    const summaries = await simulateAll(runsOf(experiment), surroundings);
    for (const name of new Set(summaries.flatMap(({ absentClasses }) => absentClasses))) {
      diagnostics.warn(
        `--slo-ttft, --slo-itl, --slo-e2e: the target of ${shownText(name)} has no effect: no request has that class`,
      );
    }
    const comparison = compareRuns(experiment, summaries);
    if (values.report !== null) await writeReport(values.report, comparison, { ...io, beforeSignal: signals.add });
    io.stdout.write(values.format === 'table' ? await asTable(comparison, io) : documentJson(comparison.document));
    return 0;
  } finally {
    await executor.close();
  }
}

async function writeReport(path: string, comparison: Comparison, io: CliIo): Promise<void> {
  const { comparePage } = await import('../../report/compare/compare-page.js');
  await writeOutputs([{ flag: '--report', path, pieces: () => [comparePage(comparison)] }], io);
}

async function asTable({ document }: Comparison, io: CliIo): Promise<string> {
  const { compareTable } = await import('../../report/compare/compare-table.js');
  return compareTable(document, presentation(io));
}

/** The files of all `--config`, and the other arguments. A last `--config` without a file stays: the flag parser refuses it. */
function takeConfigs(argv: readonly string[]): { configs: string[]; rest: string[] } {
  const configs: string[] = [];
  const rest: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    const next = argv[i + 1];
    if (argument.startsWith('--config=')) configs.push(argument.slice('--config='.length));
    else if (argument === '--config' && next !== undefined && !next.startsWith('--')) configs.push(argv[++i]!);
    else rest.push(argument);
  }
  return { configs, rest };
}
