import { limitInlining } from '../../src/cli/limit-inlining.js';
import { simulate } from '../../src/simulator/simulate.js';
import { readTraceV2 } from '../../src/workload/trace-v2/read-trace.js';
import { referenceSimulate } from '../reference/reference-simulate.js';
import { cluster, multiply } from './scenario.js';

/** One measured run in a process of its own: prints a line of JSON. Arguments: folder of the trace, kind, policy, instances, wide, long. */
const [folder, kind, policy, instances, wide, long] = process.argv.slice(2);
const { config, latency } = cluster(Number(instances), policy!);
const reading = performance.now();
const base = (await readTraceV2(`${folder}/trace.yaml`, `${folder}/trace.csv`)).table;
const started = performance.now();
const table = Number(wide) * Number(long) === 1 ? base : multiply(base, Number(wide), Number(long));
limitInlining(table.count);
const made = performance.now();
let checksum: number;
if (kind === 'reference') {
  const { requests } = referenceSimulate(config, { table }, latency);
  checksum = requests.reduce((sum, one) => sum + (one.e2eUs ?? 0) + (one.instance ?? 0), 0);
} else {
  const { outcomes } = simulate(config, { table }, latency);
  checksum = 0;
  for (let row = 0; row < table.count; row++) checksum += outcomes.e2eUs[row]! + outcomes.instance[row]!;
}
const ended = performance.now();
const result = {
  readMs: started - reading,
  simulateMs: ended - made,
  requests: table.count,
  checksum,
  memoryMb: process.resourceUsage().maxRSS / 1024,
};
process.stdout.write(JSON.stringify(result));
