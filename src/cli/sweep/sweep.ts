import { summaryOf } from '../commands.js';
import { givenSettings } from '../compare/given-settings.js';
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
import { type SweepOwnFlags, sweepGroups } from './sweep-flags.js';

export const SWEEP: CommandLine = {
  name: 'sweep',
  summary: summaryOf('sweep'),
  about:
    'Use it to see what happens if: any flags of run and replay, and keys of their files, against any others. A file with ' +
    "'kind: Sweep' describes the same; flags win over it. Results are cached: a sweep that was interrupted, or that has more " +
    'points than before, computes only what is missing.',
  operands: { usage: '[sweep.yaml]', least: 0, most: 1 },
  groups: sweepGroups,
  examples: [
    "sweep --model qwen/qwen3-14b --axis num-instances=2,3,4 --axis rate=10..40:10 --num-requests 500 --constraint 'ttft_p99<=500ms' --format table",
    'sweep --model qwen/qwen3-14b --num-instances 4 --axis rate=10..200:log5 --axis routing-policy=round-robin,lmetric --report sweep.html',
    "sweep --model qwen/qwen3-14b --axis rate=5..50 --axis max-num-seqs=16..256:log --sample latin-hypercube:20 --constraint 'rate*1000<=40000' --format csv",
  ],
};

/** Simulates every point with every seed, and reports which of them keep the constraints, the best, and the Pareto front. */
export async function sweep(argv: readonly string[], io: CliIo): Promise<number> {
  const flags = await parseFlags<SweepOwnFlags & ExecutionFlags & DetachFlags & ResultFlags>(SWEEP, argv);
  const { values, operands } = flags;
  const path = operands[0] ?? null;
  const { inputs, settings: given } = givenSettings(flags);
  const outputs = values.report === null ? [] : [{ flag: '--report', path: values.report }];
  checkOutputs(outputs, [...inputs, ...(path === null ? [] : [{ flag: 'the experiment', path }])]);
  const diagnostics = createDiagnostics(values.log, io);
  const signals = signalCleanUps(io);
  // Many runs are worth optimising for, even short ones. Workers inherit this when they start.
  limitCompiler(Number.POSITIVE_INFINITY);
  const command = commandText('sweep', argv, SWEEP);
  const label = { title: path ?? 'sweep', command };
  const opened = await openWhenNeeded(flags, label, signals, diagnostics);
  try {
    const [
      { planSweep },
      { readSweepFile },
      { simulateAll },
      { runCacheOf },
      { sweepRuns, sweptRun },
      { sweepResult },
    ] = await Promise.all([
      import('./plan-sweep.js'),
      import('./sweep-file.js'),
      import('../execution/simulate-all.js'),
      import('../execution/run-cache-of.js'),
      import('../../experiment/sweep/sweep.js'),
      import('../../experiment/sweep/sweep-document.js'),
    ]);
    const cache = await runCacheOf(flags, io.env, diagnostics);
    const file = path === null ? null : await readSweepFile(path);
    const planned = await planSweep(flags, file, given, command, diagnostics);
    const runs = sweepRuns(planned);
    if (values.detach) {
      // The shards hold the runs.
      const points = planned.points.map(({ run: _, ...point }) => point);
      const { detach } = await import('../execution/detach.js');
      const kept = { kind: 'Sweep' as const, plan: { ...planned, points } };
      await detach(runs, kept, { ...label, title: planned.title }, values, cache, io, diagnostics);
      return 0;
    }
    const executor = await opened.executor(planned.title);
    const surroundings = { executor, cache, signals, io, diagnostics };
    const found = sweepResult(planned, await simulateAll(runs, surroundings, sweptRun));
    await printResult({ kind: 'Sweep', found }, values, { ...io, beforeSignal: signals.add });
    return 0;
  } finally {
    await opened.close();
  }
}
