import { ROUTING_POLICIES } from '../../src/policy/registry.js';
import { simulate } from '../../src/simulator/simulate.js';
import { TRAFFIC, tableOf } from '../default-policy/workloads.js';
import { cluster } from '../simulator/scenario.js';
import { fittedProfiles, liveMeans, type Means, SLOW_FACTORS } from './two-gpus.js';

/** Requests per second of the model's time: about two thirds of what both can do. */
const RATE = 14;
const REQUESTS = 100;
/** Served before, for fits: enough of each GPU. */
const WARM_UP = 320;
/** Made to be bad. */
const LEFT_OUT = ['always-busiest'];
/** Policies whose simulated E2E differs by less than this are not told apart by so few requests. */
const CLEAR = 0.1;
const LEAST_CLEAR = 0.95;
const LEAST_CORRELATION = 0.8;
const traffic = TRAFFIC.find(({ name }) => name === 'several prefixes')!;

interface Row {
  readonly policy: string;
  readonly simulated: Means;
  readonly live: Means;
}

/**
 * A heterogeneous fleet, two GPUs of which one is 2.5 times as fast, under every policy, simulated and in real time. The gateway fits
 * the profile of each GPU to traffic that it has served, and predicts with those. Holds when predicted-latency is the best in both worlds and
 * both rank policies alike.
 * @param names some policies, with commas between them; by default all
 */
export async function heterogeneous(say: (line: string) => void, names?: string): Promise<boolean> {
  const all = ROUTING_POLICIES.map(({ name }) => name).filter((name) => !LEFT_OUT.includes(name));
  const policies = names === undefined ? all : names.split(',');
  const profiles = await fittedProfiles(tableOf(traffic, WARM_UP, RATE, 7), say);
  const rows: Row[] = [];
  say('policy                   simulated TTFT, E2E     live TTFT, E2E (ms of the model)');
  for (const policy of policies) {
    const row = { policy, simulated: simulated(policy), live: await liveMeans(policy, newTable(), profiles) };
    rows.push(row);
    const cells = [row.simulated.ttft, row.simulated.e2e, row.live.ttft, row.live.e2e].map((ms) =>
      ms.toFixed(0).padStart(9),
    );
    say(`${policy.padEnd(24)} ${cells.join(' ')}`);
  }
  return verdict(rows, say);
}

function simulated(policy: string): Means {
  const { config, latency } = cluster(SLOW_FACTORS.length, policy, 'physics');
  const settings = { ...config, slowFactors: [...SLOW_FACTORS], snapshotRefreshUs: 1_000_000 };
  const { ttft_mean_ms, e2e_mean_ms } = simulate(settings, { table: newTable() }, latency).document.cluster;
  return { ttft: ttft_mean_ms, e2e: e2e_mean_ms };
}

const newTable = () => tableOf(traffic, REQUESTS, RATE, 42);

function verdict(rows: readonly Row[], say: (line: string) => void): boolean {
  const ranks = (of: (row: Row) => number) => rows.map((row) => rows.filter((other) => of(other) < of(row)).length);
  const agreement = correlation(
    ranks((row) => row.simulated.e2e),
    ranks((row) => row.live.e2e),
  );
  const best = (of: (row: Row) => number) => rows.reduce((a, b) => (of(b) < of(a) ? b : a)).policy;
  const [there, here] = [best((row) => row.simulated.e2e), best((row) => row.live.e2e)];
  const clear = rows.flatMap((a) =>
    rows.filter((b) => a.simulated.e2e < (1 - CLEAR) * b.simulated.e2e).map((b) => [a, b]),
  );
  const alike = clear.filter(([a, b]) => a!.live.e2e < b!.live.e2e).length;
  const share = clear.length === 0 ? 1 : alike / clear.length;
  const holds =
    [there, here].every((policy) => policy === 'predicted-latency') &&
    agreement >= LEAST_CORRELATION &&
    share >= LEAST_CLEAR;
  say(`\nleast E2E: ${there} simulated, ${here} live`);
  say(`rank correlation ${agreement.toFixed(2)} (at least ${LEAST_CORRELATION})`);
  say(
    `pairs of policies whose simulated E2E differs by ${100 * CLEAR} % or more: ${alike} of ${clear.length} rank alike live ` +
      `(at least ${100 * LEAST_CLEAR} %)`,
  );
  say(holds ? 'the two worlds agree' : 'the two worlds differ: MISSED');
  return holds;
}

/** Pearson's, of ranks. */
function correlation(a: readonly number[], b: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  const sum = (of: (i: number) => number) => a.reduce((total, _, i) => total + of(i), 0);
  const [varianceA, varianceB] = [sum((i) => (a[i]! - meanA) ** 2), sum((i) => (b[i]! - meanB) ** 2)];
  return sum((i) => (a[i]! - meanA) * (b[i]! - meanB)) / Math.sqrt(varianceA * varianceB);
}
