import { type RunInputs, runsOf } from '../../experiment/experiment.js';
import { shownText } from '../../kernel/text/shown-text.js';
import { summaryOf } from '../commands.js';
import { createDiagnostics } from '../diagnostics.js';
import { commandText } from '../execution/command-text.js';
import type { DetachFlags, ExecutionFlags, ResultFlags } from '../execution/execution-flags.js';
import { openWhenNeeded } from '../execution/open-executor.js';
import { printResult } from '../execution/print-result.js';
import { signalCleanUps } from '../execution/signal-clean-ups.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { checkOutputs } from '../output/output-files.js';
import { limitCompiler } from '../tune-v8.js';
import { type ComparisonFlags, compareGroups } from './compare-flags.js';
import { givenSettings } from './given-settings.js';

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

/** Simulates every variant with every seed, on all cores or by the workers of a queue, and reports what differs. */
export async function compare(argv: readonly string[], io: CliIo): Promise<number> {
  const { configs, rest } = takeConfigs(argv);
  const flags = await parseFlags<ComparisonFlags & ExecutionFlags & DetachFlags & ResultFlags>(COMPARE, rest);
  const { values } = flags;
  const { inputs, settings: given } = givenSettings(flags);
  const outputs = values.report === null ? [] : [{ flag: '--report', path: values.report }];
  checkOutputs(outputs, [...configs.map((path) => ({ flag: '--config', path })), ...inputs]);
  const diagnostics = createDiagnostics(values.log, io);
  const signals = signalCleanUps(io);
  // Many runs are worth optimising for, even short ones. Workers inherit this when they start.
  limitCompiler(Number.POSITIVE_INFINITY);
  const label = { title: values.preset ?? 'compare', command: commandText('compare', argv, COMPARE) };
  const opened = await openWhenNeeded(flags, label, signals, diagnostics);
  try {
    const [{ compareRuns }, { planExperiment }, { simulateAll }, { runCacheOf }] = await Promise.all([
      import('../../experiment/comparison/comparison.js'),
      import('./plan-experiment.js'),
      import('../execution/simulate-all.js'),
      import('../execution/run-cache-of.js'),
    ]);
    const cache = await runCacheOf(flags, io.env, diagnostics);
    const simulate = async (runs: readonly RunInputs[]) =>
      simulateAll(runs, { executor: await opened.executor(), cache, signals, io, diagnostics });
    const experiment = await planExperiment(flags, configs, given, diagnostics, simulate);
    const runs = runsOf(experiment);
    if (values.detach) {
      const { detach } = await import('../execution/detach.js');
      const kept = { kind: 'Compare' as const, plan: experiment };
      await detach(runs, kept, { ...label, title: experiment.title }, values, cache, io, diagnostics);
      return 0;
    }
    const summaries = await simulate(runs);
    for (const name of new Set(summaries.flatMap(({ absentClasses }) => absentClasses))) {
      diagnostics.warn(
        `--slo-ttft, --slo-itl, --slo-e2e: the target of ${shownText(name)} has no effect: no request has that class`,
      );
    }
    const found = compareRuns(experiment, summaries);
    await printResult({ kind: 'Compare', found }, values, { ...io, beforeSignal: signals.add });
    return 0;
  } finally {
    await opened.close();
  }
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
