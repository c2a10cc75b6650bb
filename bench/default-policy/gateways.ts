import { capacityOf, fleetRun } from './fleet-run.js';
import { TRAFFIC } from './workloads.js';

/**
 * What it costs that several gateways know only their own requests and prompts: mean TTFT over that of one gateway with the
 * same policy, at 70 % of capacity, by number of gateways and age of the signals that replicas report.
 * `npm run bench:gateways -- [requests] [seeds]`.
 */
const requests = Number(process.argv[2] ?? 1000);
const seeds = Number(process.argv[3] ?? 3);
const LOAD = 0.7;
const GATEWAYS = [2, 4, 8];
const AGES_MS = [100, 1000];
const POLICIES = ['unified', 'lmetric', 'dynamo-cost', 'least-loaded', 'round-robin'];
const KINDS = ['one hot prefix', 'several prefixes', 'nothing shared', 'long chats', 'agents'];

const say = (text: string) => process.stdout.write(`${text}\n`);
const titles = GATEWAYS.flatMap((gateways) => AGES_MS.map((age) => `${gateways} gw, ${age} ms`));
say(`${'traffic'.padEnd(18)} ${'policy'.padEnd(14)} ${titles.map((title) => title.padStart(13)).join(' ')}`);
for (const kind of TRAFFIC.filter(({ name }) => KINDS.includes(name))) {
  const rate = LOAD * capacityOf(kind, Math.min(requests, 800));
  for (const policy of POLICIES) {
    const ttft = (gateways: number, ageMs: number) => {
      const change = { gateways, snapshotRefreshUs: 1000 * ageMs, cacheSignalDelayUs: 1000 * ageMs };
      const runs = Array.from({ length: seeds }, (_, i) => fleetRun(kind, policy, rate, 42 + i, requests, 1, change));
      return runs.reduce((sum, { ttft_mean_ms }) => sum + ttft_mean_ms, 0) / seeds;
    };
    const alone = AGES_MS.map((age) => ttft(1, age));
    const cells = GATEWAYS.flatMap((gateways) => AGES_MS.map((age, i) => ttft(gateways, age) / alone[i]!));
    say(`${kind.name.padEnd(18)} ${policy.padEnd(14)} ${cells.map((cell) => cell.toFixed(2).padStart(13)).join(' ')}`);
  }
}
