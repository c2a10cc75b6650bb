import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ComparisonRow, comparisonTable } from '../../src/report/text/comparison-table.js';
import { compareTraffic, TOLERANCE } from '../../src/workload/fit/compare-traffic.js';
import { fitWorkload } from '../../src/workload/fit/fit-workload.js';
import type { StatisticName } from '../../src/workload/fit/traffic-statistics.js';
import { readAnyTrace } from '../../src/workload/formats/read-any-trace.js';
import { synthAgenticCoder } from '../../src/workload/synth/agentic-coder.js';
import type { Trace } from '../../src/workload/trace.js';

/**
 * How near fitted traffic is to recorded traffic. The public traces are not part of the project: those that are found in
 * ../shared/traces (or in the folder given) are compared, the made-up one always.
 */
const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = process.argv[2] ?? join(root, '../shared/traces');

/** By file, which statistics must keep the bound; the others are for information. */
const PROMISED: readonly StatisticName[] = [
  'requests_per_s',
  'input_p50',
  'input_p90',
  'input_p99',
  'output_p50',
  'output_p90',
  'output_p99',
  'reusable_share',
];
const FILES = [
  { path: 'mooncake/conversation_trace.jsonl', promised: true },
  { path: 'mooncake/synthetic_trace.jsonl', promised: false },
  { path: 'azure2023/AzureLLMInferenceTrace_code.csv', promised: false },
  { path: 'azure2023/AzureLLMInferenceTrace_conv.csv', promised: false },
];

function kindOf(name: StatisticName): ComparisonRow['kind'] {
  return name === 'requests_per_s' ? 'rate' : name === 'reusable_share' ? 'share' : 'tokens';
}

function report(title: string, trace: Trace, promised: boolean): void {
  const started = performance.now();
  const fit = fitWorkload(trace);
  const fitMs = performance.now() - started;
  const { requests, seed, seeds, statistics } = compareTraffic(fit, null);
  const rows = statistics.map((one): ComparisonRow => {
    const isBound = promised && PROMISED.includes(one.name);
    return {
      name: one.name,
      kind: kindOf(one.name),
      expected: one.recorded,
      found: one.regenerated,
      difference: one.difference,
      tries: one,
      remark: isBound ? (one.within ? 'holds' : 'MISSED') : one.within ? '' : `outside ${TOLERANCE * 100} %`,
    };
  });
  process.stdout.write(
    `${title}: ${trace.table.count} requests, fitted in ${fitMs.toFixed(0)} ms, ${requests} regenerated with seed ${seed}\n`,
  );
  const table = comparisonTable(['recorded', 'regenerated', `${seeds.length} seeds`], rows, { colour: false });
  process.stdout.write(`${table}\n`);
}

for (const { path, promised } of FILES) {
  const file = join(folder, path);
  if (existsSync(file)) report(path, await readAnyTrace(file), promised);
  else process.stdout.write(`${path}: not there, not compared\n\n`);
}
report('synth agentic-coder', synthAgenticCoder(), true);
