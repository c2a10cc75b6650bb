import type { ComparisonRow } from '../../report/text/comparison-table.js';
import type { TextOptions } from '../../report/text/style.js';
import type { TrafficComparison } from '../../workload/fit/compare-traffic.js';
import type { StatisticName } from '../../workload/fit/traffic-statistics.js';
import { createDiagnostics } from '../diagnostics.js';
import type { CommandLine } from '../flags/command-line.js';
import { choiceFlag, count, file } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, presentation } from '../io.js';
import { checkOutputs, writeOutputs } from '../output/output-files.js';
import { EXAMPLE_TRACE, ONE_FILE } from './change-trace.js';
import { inputTrace } from './input-trace.js';
import { traceSummaryOf } from './trace.js';

const fitFlags = {
  seed: count({
    default: null,
    defaultText: 'the best of several',
    help: 'seed of the specification and of the comparison',
  }),
};

const outputFlags = {
  output: { ...file({ help: 'where to write the workload specification, a YAML file' }), letter: 'o' },
  format: choiceFlag({ default: 'json', known: ['json', 'table'], help: 'how the comparison is printed' }),
};

export const TRACE_FIT: CommandLine = {
  name: 'trace fit',
  summary: traceSummaryOf('fit'),
  about: 'Use it to get a small, shareable specification that generates traffic like the trace.',
  operands: ONE_FILE,
  groups: [
    { title: 'Fit', flags: fitFlags },
    { title: 'Output', flags: outputFlags },
  ],
  examples: [EXAMPLE_TRACE, 'trace fit agents.csv -o like-agents.yaml --format table'],
};

export async function fit(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof fitFlags & typeof outputFlags>(TRACE_FIT, argv);
  const { format, output, seed } = values;
  const input = await inputTrace(operands[0]!);
  checkOutputs(output === null ? [] : [{ flag: '--output', path: output }], input.files);
  const [{ fitWorkload }, { compareTraffic }, { writeWorkloadSpec }] = await Promise.all([
    import('../../workload/fit/fit-workload.js'),
    import('../../workload/fit/compare-traffic.js'),
    import('../../workload/spec/write-workload-spec.js'),
  ]);
  const diagnostics = createDiagnostics('warn', io);
  const fitted = fitWorkload(await input.read(diagnostics));
  for (const note of fitted.notes) diagnostics.warn(note);
  const comparison = compareTraffic(fitted, seed);
  if (output !== null) {
    const spec = writeWorkloadSpec({ ...fitted.spec, seed: comparison.seed });
    await writeOutputs([{ flag: '--output', path: output, pieces: () => [spec] }], io);
  }
  const requests = fitted.recorded.count;
  if (format === 'json') {
    io.stdout.write(
      `${JSON.stringify({ requests, clients: fitted.spec.clients!.length, ...documentOf(comparison) }, null, 2)}\n`,
    );
    return 0;
  }
  io.stdout.write(await tableOf(input.path, requests, comparison, presentation(io)));
  return 0;
}

function documentOf({ requests, seed, seeds, statistics }: TrafficComparison) {
  return {
    regenerated_requests: requests,
    seed,
    seeds_tried: seeds.length,
    statistics: Object.fromEntries(
      statistics.map(({ name, recorded, regenerated, difference, within, mean, deviation }) => [
        name,
        { recorded, regenerated, difference, within_5_percent: within, seeds: { mean, deviation } },
      ]),
    ),
    outside: statistics.filter(({ within }) => !within).map(({ name }) => name),
  };
}

const NAMES: Readonly<Record<StatisticName, [name: string, kind: ComparisonRow['kind']]>> = {
  requests_per_s: ['mean rate', 'rate'],
  input_mean: ['input, mean', 'tokens'],
  input_p50: ['input, p50', 'tokens'],
  input_p90: ['input, p90', 'tokens'],
  input_p99: ['input, p99', 'tokens'],
  output_mean: ['output, mean', 'tokens'],
  output_p50: ['output, p50', 'tokens'],
  output_p90: ['output, p90', 'tokens'],
  output_p99: ['output, p99', 'tokens'],
  reusable_share: ['reusable prefix', 'share'],
};

async function tableOf(
  path: string,
  requests: number,
  comparison: TrafficComparison,
  options: TextOptions,
): Promise<string> {
  const [{ comparisonTable }, { wholeNumber }] = await Promise.all([
    import('../../report/text/comparison-table.js'),
    import('../../report/text/format-number.js'),
  ]);
  const { seed, seeds, statistics } = comparison;
  const rows = statistics.map(
    ({ name, recorded, regenerated, difference, within, mean, deviation }): ComparisonRow => ({
      name: NAMES[name][0],
      kind: NAMES[name][1],
      expected: recorded,
      found: regenerated,
      difference,
      tries: { mean, deviation },
      remark: within ? '' : 'outside 5 %',
      isOutside: !within,
    }),
  );
  const columns = ['recorded', 'regenerated', ...(seeds.length > 1 ? [`${seeds.length} seeds`] : [])];
  const outside = rows.filter(({ remark }) => remark !== '').map(({ name }) => name);
  const headline = `${path.replace(/\p{Cc}/gu, '?')}: ${wholeNumber(requests)} requests recorded, ${wholeNumber(comparison.requests)} regenerated with seed ${seed}`;
  const verdict = outside.length === 0 ? 'All within 5 %.' : `Outside 5 %: ${outside.join('; ')}.`;
  return `${headline}\n\n${comparisonTable(columns, rows, options)}\n${verdict}\n`;
}
