import { availableParallelism } from 'node:os';
import { createExecutor } from '../../experiment/runs/worker-pool.js';
import type { SweepResult } from '../../experiment/sweep/sweep-document.js';
import { documentJson } from '../../report/text/document-json.js';
import { summaryOf } from '../commands.js';
import { givenSettings } from '../compare/given-settings.js';
import { signalCleanUps } from '../compare/signal-clean-ups.js';
import { createDiagnostics } from '../diagnostics.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, presentation } from '../io.js';
import { checkOutputs, writeOutputs } from '../output/output-files.js';
import { limitCompiler } from '../tune-v8.js';
import { commandText } from './command-text.js';
import { type ExecutionFlags, type SweepOutputFlags, type SweepOwnFlags, sweepGroups } from './sweep-flags.js';

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
  const executor = await createExecutor(values.workers ?? availableParallelism());
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
      import('../compare/simulate-all.js'),
      import('../compare/run-cache-of.js'),
      import('../../experiment/sweep/sweep.js'),
      import('../../experiment/sweep/sweep-document.js'),
    ]);
    const cache = await runCacheOf(flags, io.env, diagnostics);
    const file = path === null ? null : await readSweepFile(path);
    const planned = await planSweep(flags, file, given, commandText('sweep', argv, SWEEP), diagnostics);
    const surroundings = { executor, cache, signals, io, diagnostics };
    const result = sweepResult(planned, await simulateAll(sweepRuns(planned), surroundings, sweptRun));
    if (values.report !== null) {
      const page = (await import('../../report/sweep/sweep-page.js')).sweepPage(result);
      const output = { flag: '--report', path: values.report, pieces: () => [page] };
      await writeOutputs([output], { ...io, beforeSignal: signals.add });
    }
    io.stdout.write(await formatted(result, values.format, io));
    return 0;
  } finally {
    await executor.close();
  }
}

async function formatted(result: SweepResult, format: string, io: CliIo): Promise<string> {
  if (format === 'table') {
    return (await import('../../report/sweep/sweep-table.js')).sweepTable(result, presentation(io));
  }
  if (format === 'csv') return (await import('../../report/sweep/sweep-csv.js')).sweepCsv(result);
  if (format === 'html') return (await import('../../report/sweep/sweep-page.js')).sweepPage(result);
  return documentJson(result.document);
}
