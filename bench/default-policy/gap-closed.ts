import { ROUTING_POLICIES } from '../../src/policy/registry.js';
import { capacityOf, fleetRun } from './fleet-run.js';
import { TRAFFIC } from './workloads.js';

/**
 * How close each policy comes to the oracle, which knows what the request would take on every replica: the share of the distance from
 * round-robin to the oracle that it closes, in the mean TTFT (oracle: least TTFT of this request) and in the mean E2E (oracle: least
 * time of all requests together). Over 100 % is possible: both oracles decide request by request and know nothing of later ones.
 * `npm run bench:oracle -- [requests] [load]`. Each request of the oracle simulates all before it, on every replica.
 */
const requests = Number(process.argv[2] ?? 500);
const load = Number(process.argv[3] ?? 0.7);
/** Made to be bad, and what the distance is measured from. */
const LEFT_OUT = ['always-busiest', 'round-robin'];
/** Where round-robin is as good as the oracle, there is no distance. */
const LEAST_GAP = 0.05;
const SEED = 42;

const say = (text: string) => process.stdout.write(`${text}\n`);
const policies = ROUTING_POLICIES.map(({ name }) => name).filter((name) => !LEFT_OUT.includes(name));
const rows = new Map<string, string[]>(policies.map((policy) => [policy, []]));
const sums = new Map<string, number>();
for (const kind of TRAFFIC) {
  const rate = load * capacityOf(kind, requests);
  const run = (policy: string, options: Record<string, unknown> = {}) => {
    const result = fleetRun(kind, policy, rate, SEED, requests, 1, { routing: { policy, options } });
    return { ttft: result.ttft_mean_ms, e2e: result.e2e_mean_ms };
  };
  const plain = run('round-robin');
  const ttft = run('predicted-latency', { oracle: 'ttft' }).ttft;
  const { e2e } = run('predicted-latency', { oracle: 'total' });
  process.stderr.write(
    `${kind.name}: TTFT ${plain.ttft.toFixed(0)}, oracle ${ttft.toFixed(0)} ms; E2E ${plain.e2e.toFixed(0)}, oracle ${e2e.toFixed(0)} ms\n`,
  );
  for (const policy of policies) {
    const own = run(policy);
    const closed = [closedShare(plain.ttft, ttft, own.ttft), closedShare(plain.e2e, e2e, own.e2e)];
    rows.get(policy)!.push(closed.map((share) => (Number.isNaN(share) ? '-' : `${Math.round(100 * share)}`)).join(' '));
    for (const share of closed) {
      if (!Number.isNaN(share)) sums.set(policy, (sums.get(policy) ?? 0) + share);
    }
  }
}

function closedShare(plain: number, oracle: number, own: number): number {
  return plain - oracle < LEAST_GAP * plain ? Number.NaN : (plain - own) / (plain - oracle);
}

const ordered = [...rows].sort(([a], [b]) => (sums.get(b) ?? 0) - (sums.get(a) ?? 0));
say(`share of the gap closed, %, TTFT then E2E, at ${100 * load} % load, ${requests} requests`);
say(`| policy | ${TRAFFIC.map(({ name }) => name).join(' | ')} |`);
for (const [policy, cells] of ordered) say(`| \`${policy}\` | ${cells.join(' | ')} |`);
