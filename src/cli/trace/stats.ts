import { createDiagnostics } from '../diagnostics.js';
import { badValue } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { choiceFlag, count, file, MAX_INT32 } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type TracePartFlags, tracePartFlags, tracePartOf } from '../flags/trace-part-flags.js';
import { type CliIo, presentation } from '../io.js';
import { checkOutputs, writeOutputs } from '../output/output-files.js';
import { limitCompiler } from '../tune-v8.js';
import { EXAMPLE_TRACE, ONE_FILE } from './change-trace.js';
import { inputTrace } from './input-trace.js';
import { traceSummaryOf } from './trace.js';

const statsFlags = {
  'block-size': count({
    default: null,
    min: 1,
    max: MAX_INT32,
    defaultText: 'as recorded, else 16',
    help: 'tokens per block; prompts share whole blocks',
  }),
  'cache-blocks': count({
    default: null,
    min: 1,
    max: MAX_INT32,
    help: 'also report hits in a cache of this many blocks',
  }),
};

const outputFlags = {
  format: choiceFlag({ default: 'json', known: ['json', 'table'], help: 'how the result is printed' }),
  report: file({ help: 'also write plots, as p.svg or p.html' }),
};

export const TRACE_STATS: CommandLine = {
  name: 'trace stats',
  summary: traceSummaryOf('stats'),
  about: 'Use it to see what a trace contains and how much of it a prefix cache could reuse.',
  operands: ONE_FILE,
  groups: [
    { title: 'Input', flags: tracePartFlags },
    { title: 'Prefix cache', flags: statsFlags },
    { title: 'Output', flags: outputFlags },
  ],
  examples: [
    EXAMPLE_TRACE,
    'trace stats agents.csv --format table',
    'trace stats agents.csv --cache-blocks 2000 --format table --report agents.html',
  ],
};

export async function stats(argv: readonly string[], io: CliIo): Promise<number> {
  const flags = await parseFlags<typeof statsFlags & typeof outputFlags & TracePartFlags>(TRACE_STATS, argv);
  const { operands, values } = flags;
  const { report } = values;
  if (report !== null && !/\.(svg|html)$/.test(report)) {
    throw badValue('--report', report, 'ends in neither .svg nor .html', 'a name with one of these endings');
  }
  const input = await inputTrace(operands[0]!, tracePartOf(flags));
  checkOutputs(report === null ? [] : [{ flag: '--report', path: report }], input.files);
  const { traceStats } = await import('../../workload/tools/stats/trace-stats.js');
  const trace = await input.read(createDiagnostics('warn', io));
  limitCompiler(trace.table.count);
  const result = traceStats(trace, {
    ...(values['block-size'] === null ? {} : { blockSize: values['block-size'] }),
    ...(values['cache-blocks'] === null ? {} : { cacheBlocks: values['cache-blocks'] }),
  });
  if (report !== null) {
    const { traceStatsPage, traceStatsSvg } = await import('../../report/trace-stats/trace-stats-figure.js');
    const draw = report.endsWith('.svg') ? traceStatsSvg : traceStatsPage;
    const pieces = () => [draw(input.path, result.stats, result.series)];
    await writeOutputs([{ flag: '--report', path: report, pieces }], io);
  }
  if (values.format === 'json') {
    io.stdout.write(`${JSON.stringify(result.stats, null, 2)}\n`);
    return 0;
  }
  const { traceStatsTable } = await import('../../report/trace-stats/trace-stats-table.js');
  io.stdout.write(traceStatsTable(input.path, result.stats, presentation(io)));
  return 0;
}
