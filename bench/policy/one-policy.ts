import { routingPolicy } from '../../src/policy/registry.js';
import { PlainIndex } from './plain-index.js';
import { type Workbench, workbench } from './workbench.js';

/** Measures one policy on one fleet, in a process of its own: `one-policy.js NAME REPLICAS index|plain`. */
const WARM_UP_MS = 60;
const MEASURED_MS = 30;
const ROUNDS = 3;
const BATCH = 512;

function picksPerSecond(bench: Workbench, ms: number): number {
  const started = performance.now();
  let picks = 0;
  while (performance.now() - started < ms) {
    bench.pick(BATCH);
    picks += BATCH;
  }
  return (picks * 1000) / (performance.now() - started);
}

/**
 * Bytes per pick left on the heap without a collection; the least of a few attempts, because other code uses
 * the heap too.
 */
function bytesPerPick(bench: Workbench): number {
  const picks = 16 * BATCH;
  const tries = Array.from({ length: 3 }, () => {
    globalThis.gc!();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < picks; i += BATCH) bench.pick(BATCH);
    return Math.max(0, process.memoryUsage().heapUsed - before) / picks;
  });
  return Math.min(...tries);
}

const [name = '', replicas = '', lookup = ''] = process.argv.slice(2);
const plain = lookup === 'plain' ? (count: number) => new PlainIndex(count) : undefined;
const bench = workbench(routingPolicy(name), Number(replicas), plain);
const checksum = bench.pick(4096);
picksPerSecond(bench, WARM_UP_MS);
const rates = Array.from({ length: ROUNDS }, () => picksPerSecond(bench, MEASURED_MS));
process.stdout.write(
  JSON.stringify({ picksPerSecond: Math.max(...rates), bytesPerPick: bytesPerPick(bench), checksum }),
);
