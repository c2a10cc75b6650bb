import { ROUTING_POLICIES } from '../../src/policy/registry.js';
import { capacityOf, fleetRun } from './fleet-run.js';
import { TRAFFIC } from './workloads.js';

/**
 * Every routing policy on eight kinds of traffic at three loads, in the simulator with the default latency model and signals
 * a second old, as they are live. Each figure is the mean TTFT (then E2E) over the best policy's; the policy to choose is the
 * one whose worst figure is least. `npm run bench:default-policy -- [requests] [seeds]`.
 */
const requests = Number(process.argv[2] ?? 1200);
const seeds = Number(process.argv[3] ?? 2);
const LOADS = [0.3, 0.7, 0.95];
/** Made to be bad. */
const LEFT_OUT = ['always-busiest'];
const policies = ROUTING_POLICIES.map(({ name }) => name).filter((name) => !LEFT_OUT.includes(name));

interface Measured {
  ttft: number;
  e2e: number;
}

const say = (text: string) => process.stdout.write(`${text}\n`);
const worst = new Map<string, { ttft: number; e2e: number; where: string }>();
const rows = new Map<string, string[]>(policies.map((policy) => [policy, []]));
for (const kind of TRAFFIC) {
  const capacity = capacityOf(kind, Math.min(requests, 800));
  process.stderr.write(`${kind.name}: ${capacity.toFixed(1)} requests/s\n`);
  for (const load of LOADS) {
    const measured = policies.map((policy): Measured => {
      const runs = Array.from({ length: seeds }, (_, i) => fleetRun(kind, policy, load * capacity, 42 + i, requests));
      const mean = (of: (one: (typeof runs)[0]) => number) => runs.reduce((sum, one) => sum + of(one), 0) / runs.length;
      return { ttft: mean((one) => one.ttft_mean_ms), e2e: mean((one) => one.e2e_mean_ms) };
    });
    const best = {
      ttft: Math.min(...measured.map(({ ttft }) => ttft)),
      e2e: Math.min(...measured.map(({ e2e }) => e2e)),
    };
    for (const [i, policy] of policies.entries()) {
      const ratio = { ttft: measured[i]!.ttft / best.ttft, e2e: measured[i]!.e2e / best.e2e };
      rows.get(policy)!.push(ratio.ttft.toFixed(2));
      const before = worst.get(policy) ?? { ttft: 1, e2e: 1, where: '' };
      const where = ratio.ttft > before.ttft ? `${kind.name}, ${load * 100} %` : before.where;
      worst.set(policy, { ttft: Math.max(before.ttft, ratio.ttft), e2e: Math.max(before.e2e, ratio.e2e), where });
    }
  }
}
const ordered = [...worst].sort(([, a], [, b]) => Math.max(a.ttft, a.e2e) - Math.max(b.ttft, b.e2e));
say(`${'policy'.padEnd(24)} worst TTFT  worst E2E  where`);
for (const [policy, { ttft, e2e, where }] of ordered) {
  say(`${policy.padEnd(24)} ${ttft.toFixed(2).padStart(10)} ${e2e.toFixed(2).padStart(10)}  ${where}`);
}
say(`\nTTFT over the best, by traffic and load (${LOADS.map((load) => `${100 * load} %`).join(', ')})`);
say(`${''.padEnd(24)} ${TRAFFIC.map(({ name }) => name.padEnd(18)).join(' ')}`);
for (const [policy] of ordered) {
  const cells = rows.get(policy)!;
  const groups = TRAFFIC.map((_, i) =>
    cells
      .slice(3 * i, 3 * i + 3)
      .join(' ')
      .padEnd(18),
  );
  say(`${policy.padEnd(24)} ${groups.join(' ')}`);
}
