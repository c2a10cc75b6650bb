import { meanOf } from '../../test/support/ranking.js';
import { judgeRanking, type RankedPolicy } from './judge-ranking.js';
import { fittedProfiles, LIVE_PREFIX, liveTimes } from './two-gpus.js';
import { SEED, simulatedTimes, triedPolicies, unlikeTraffic, VIRTUAL_PREFIX, virtualTimes } from './unlike-fleet.js';

const REQUESTS = 500;
/** Served before, for fits: enough of each GPU. */
const WARM_UP = 320;
const WARM_UP_SEED = 7;
const VIRTUAL_REQUESTS = 2000;
const BEST = 'predicted-latency';

/**
 * A heterogeneous fleet, two GPUs of which one is 2.5 times as fast, under every policy, simulated and in real time. The gateway fits
 * the profile of each GPU to traffic that it has served, and predicts with those. Holds when predicted-latency is the best in both
 * worlds and both rank policies alike.
 * @param names some policies, with commas between them; by default all
 */
export async function heterogeneous(say: (line: string) => void, names?: string): Promise<boolean> {
  const profiles = await fittedProfiles(unlikeTraffic(WARM_UP, WARM_UP_SEED), say);
  const rows: RankedPolicy[] = [];
  sayHead(say);
  for (const routing of triedPolicies(names)) {
    const table = unlikeTraffic(REQUESTS, SEED);
    const simulated = simulatedTimes(routing, table, LIVE_PREFIX);
    const row = { policy: routing.policy, simulated, live: await liveTimes(routing, table, profiles) };
    rows.push(row);
    sayRow(row, say);
  }
  return judgeRanking(rows, BEST, say);
}

/** The same with the gateway's code in virtual time: what differs is no delay of this machine. */
export async function heterogeneousVirtual(say: (line: string) => void, names?: string): Promise<boolean> {
  const rows: RankedPolicy[] = [];
  sayHead(say);
  for (const routing of triedPolicies(names)) {
    const table = unlikeTraffic(VIRTUAL_REQUESTS, SEED);
    const simulated = simulatedTimes(routing, table, VIRTUAL_PREFIX);
    const row = { policy: routing.policy, simulated, live: await virtualTimes(routing, table) };
    rows.push(row);
    sayRow(row, say);
  }
  return judgeRanking(rows, BEST, say);
}

function sayHead(say: (line: string) => void): void {
  say('policy                   simulated TTFT, E2E     live TTFT, E2E (ms of the model)');
}

function sayRow({ live, policy, simulated }: RankedPolicy, say: (line: string) => void): void {
  const cells = [simulated.ttft, simulated.e2e, live.ttft, live.e2e].map((ms) => meanOf(ms).toFixed(0).padStart(9));
  say(`${policy.padEnd(24)} ${cells.join(' ')}`);
}
