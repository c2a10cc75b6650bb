import { limitCompiler } from '../../src/cli/tune-v8.js';
import { simulate } from '../../src/simulator/simulate.js';
import { readTraceV2 } from '../../src/workload/trace-v2/read-trace.js';
import { referenceSimulate } from '../reference/reference-simulate.js';
import { cluster, multiply } from './scenario.js';

const PRIME = 2 ** 31 - 1;

/**
 * One measured run in a process of its own: prints a line of JSON. Arguments: folder of the trace, kind, policy, instances,
 * wide, long. The kind `default` has the default latency model, all others trained-physics.
 */
limitCompiler(0);
const [folder, kind, policy, instances, wide, long] = process.argv.slice(2);
const { config, latency } = cluster(Number(instances), policy!, kind === 'default' ? 'physics' : 'trained-physics');
const reading = performance.now();
const base = (await readTraceV2(`${folder}/trace.yaml`, `${folder}/trace.csv`)).table;
const started = performance.now();
const table = Number(wide) * Number(long) === 1 ? base : multiply(base, Number(wide), Number(long));
limitCompiler(table.count);
const made = performance.now();
/** Depends on every request's end-to-end time and instance, and on their order. */
let checksum = 0;
const add = (e2eUs: number, instance: number) => {
  checksum = (checksum * 31 + (e2eUs % PRIME) * 64 + instance) % PRIME;
};
let ended: number;
if (kind === 'reference') {
  const { requests } = referenceSimulate(config, { table }, latency);
  ended = performance.now();
  for (const { e2eUs, instance } of requests) add(e2eUs ?? 0, instance ?? -1);
} else {
  let begun = made;
  let result = simulate(config, { table }, latency);
  for (let again = 0; kind === 'warm' && again < 5; again++) {
    begun = performance.now();
    result = simulate(config, { table }, latency);
  }
  // Of a warm process only the last simulation counts.
  ended = performance.now() - begun + made;
  for (let row = 0; row < table.count; row++) add(result.outcomes.e2eUs[row]!, result.outcomes.instance[row]!);
}
const result = {
  readMs: started - reading,
  simulateMs: ended - made,
  requests: table.count,
  checksum,
  memoryMb: process.resourceUsage().maxRSS / 1024,
};
process.stdout.write(JSON.stringify(result));
