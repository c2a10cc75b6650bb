import type { RunExecutor } from '../../experiment/runs/executor.js';
import { summaryOf } from '../commands.js';
import { givenSettings } from '../compare/given-settings.js';
import { signalCleanUps } from '../compare/signal-clean-ups.js';
import { createDiagnostics } from '../diagnostics.js';
import { conflictingFlags } from '../errors.js';
import { commandText } from '../execution/command-text.js';
import { type ExecutionFlags, isQueue } from '../execution/execution-flags.js';
import { openExecutor } from '../execution/open-executor.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { checkOutputs } from '../output/output-files.js';
import { limitCompiler } from '../tune-v8.js';
import { printSweep } from './print-sweep.js';
import { type SweepOutputFlags, type SweepOwnFlags, sweepGroups } from './sweep-flags.js';

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
  const flags = await parseFlags<SweepOwnFlags & ExecutionFlags & SweepOutputFlags>(SWEEP, argv);
  const { values, operands } = flags;
  const path = operands[0] ?? null;
  const { inputs, settings: given } = givenSettings(flags);
  const outputs = values.report === null ? [] : [{ flag: '--report', path: values.report }];
  checkOutputs(outputs, [...inputs, ...(path === null ? [] : [{ flag: 'the experiment', path }])]);
  const diagnostics = createDiagnostics(values.log, io);
  const signals = signalCleanUps(io);
  // Many runs are worth optimising for, even short ones. Workers inherit this when they start.
  limitCompiler(Number.POSITIVE_INFINITY);
  if (values.detach && !isQueue(values.executor)) {
    throw conflictingFlags('--detach', 'given without a queue', 'add --executor redis://host:6379');
  }
  const command = commandText('sweep', argv, SWEEP);
  const label = { title: path ?? 'sweep', command };
  let executor: RunExecutor | null = null;
  try {
    // Threads load their program while the sweep is planned.
    if (!isQueue(values.executor)) executor = await openExecutor(flags, label, signals, diagnostics);
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
      import('../compare/simulate-all.js'),
      import('../compare/run-cache-of.js'),
      import('../../experiment/sweep/sweep.js'),
      import('../../experiment/sweep/sweep-document.js'),
    ]);
    const cache = await runCacheOf(flags, io.env, diagnostics);
    const file = path === null ? null : await readSweepFile(path);
    const planned = await planSweep(flags, file, given, command, diagnostics);
    const runs = sweepRuns(planned);
    if (values.detach && isQueue(values.executor)) {
      const plan = JSON.stringify({ ...planned, points: planned.points.map(({ run: _, ...point }) => point) });
      const { detach } = await import('../execution/detach.js');
      await detach(runs, plan, { ...label, title: planned.title }, values, cache, io, diagnostics);
      return 0;
    }
    executor ??= await openExecutor(flags, { ...label, title: planned.title }, signals, diagnostics);
    const surroundings = { executor, cache, signals, io, diagnostics };
    const result = sweepResult(planned, await simulateAll(runs, surroundings, sweptRun));
    await printSweep(result, values, { ...io, beforeSignal: signals.add });
    return 0;
  } finally {
    await executor?.close();
  }
}
