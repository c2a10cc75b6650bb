import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { policyOptions } from '../../src/policy/policy-options.js';
import { ROUTING_POLICIES } from '../../src/policy/registry.js';

/**
 * How many decisions a second each routing policy makes over 4, 64 and 1,024 replicas, each in a process of its own,
 * and what they leave on the heap. A decision includes looking the prompt up for policies that read the index. The
 * bounds are for 64 replicas. `weighted` runs once more with a plain index: it must choose the same and shows what the
 * real one gains.
 */
const SIZES = [4, 64, 1024];
const BOUND_AT = 64;
const SIMPLE_BOUND = 2_000_000;
const LOOKUP_BOUND = 300_000;
/** A prediction adds up the steps of an engine, for every replica: tens of microseconds for 64 of them. */
const PREDICTION_BOUND = 10_000;
const RUNS = 3;
/** Heap statistics sometimes count whole pages: less than this per pick counts as none. */
const NO_BYTES = 1;
const onePolicy = fileURLToPath(new URL('./one-policy.js', import.meta.url));

interface Measured {
  picksPerSecond: number;
  bytesPerPick: number;
  checksum: number;
}

/**
 * By size of the fleet. What the compiler inlines differs from process to process, and with it the speed and the
 * numbers that are boxed on the way: up to three processes, of which the best figures count.
 */
function measure(name: string, bound: number, lookup: 'index' | 'plain' = 'index'): Measured[] {
  return SIZES.map((replicas) => {
    const args = ['--expose-gc', onePolicy, name, String(replicas), lookup];
    const best: Measured = { picksPerSecond: 0, bytesPerPick: Number.POSITIVE_INFINITY, checksum: 0 };
    for (let run = 0; run < RUNS; run++) {
      const measured: Measured = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
      best.picksPerSecond = Math.max(best.picksPerSecond, measured.picksPerSecond);
      best.bytesPerPick = Math.min(best.bytesPerPick, measured.bytesPerPick);
      best.checksum = measured.checksum;
      if (best.bytesPerPick < NO_BYTES && (replicas !== BOUND_AT || best.picksPerSecond >= bound)) break;
    }
    return best;
  });
}

/** Policies that neither look prompts up nor hash a text compare a number or two per replica. */
function boundOf(policy: (typeof ROUTING_POLICIES)[number]): number {
  const reads = policy.reads(policyOptions(policy, {}, 'bench'));
  if (reads.includes('prediction')) return PREDICTION_BOUND;
  const needsMore = (['prefixIndex', 'body'] as const).some((signal) => reads.includes(signal));
  return needsMore ? LOOKUP_BOUND : SIMPLE_BOUND;
}

const rounded = (rate: number) =>
  Math.round(rate / 1000)
    .toLocaleString('en-US')
    .concat(',000');
const rows: string[][] = [];
function report(...row: string[]): void {
  rows.push(row);
  process.stderr.write(`${row.join(' | ')}\n`);
}

const ratesOf = (measured: readonly Measured[]) => measured.map(({ picksPerSecond }) => rounded(picksPerSecond));
for (const policy of ROUTING_POLICIES) {
  const bound = boundOf(policy);
  const measured = measure(policy.name, bound);
  const bytes = Math.max(...measured.map(({ bytesPerPick }) => bytesPerPick));
  const holds = measured[SIZES.indexOf(BOUND_AT)]!.picksPerSecond >= bound && bytes < NO_BYTES;
  report(policy.name, ...ratesOf(measured), rounded(bound), bytes.toFixed(2), holds ? 'holds' : 'MISSED');
}

const plain = measure('weighted', 0, 'plain');
const real = measure('weighted', LOOKUP_BOUND);
const gains = plain.map(({ picksPerSecond }, i) => `${(real[i]!.picksPerSecond / picksPerSecond).toFixed(1)} x`);
const same = plain.every(({ checksum }, i) => checksum === real[i]!.checksum);
report('weighted, plain index', ...ratesOf(plain), '', '', '');
report('weighted against plain index', ...gains, 'same choices', '', same ? 'holds' : 'MISSED');

const names = ['picks per second', ...SIZES.map((n) => `${n} replicas`), 'bound at 64', 'bytes per pick', ''];
const widths = names.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]!.length)));
for (const row of [names, ...rows]) {
  const line = row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)));
  process.stdout.write(`${line.join('  ').trimEnd()}\n`);
}
process.exitCode = rows.some((row) => row.at(-1) === 'MISSED') ? 1 : 0;
