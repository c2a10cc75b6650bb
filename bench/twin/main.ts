import { fileURLToPath } from 'node:url';
import { emulated } from './emulated.js';
import { h200 } from './h200.js';
import { heterogeneous, heterogeneousVirtual } from './heterogeneous.js';
import { live } from './live.js';
import { profiles } from './profiles.js';
import { virtual } from './virtual.js';

/**
 * How well what-if predicts: `virtual` (a gateway and emulated engines in virtual time), `emulated` (the same with kinds of traffic and
 * policies that were not measured, and engines that no profile describes; kinds, policies and a seed may be given), `live` (the same in real time, on
 * loopback; the number of seeds, and a folder that keeps recordings, may be given), `h200` (measured runs on real replicas, whose folder may be given). `heterogeneous` (two GPUs, one 2.5 times as fast, with profiles fitted to
 * live traffic, under every policy in both worlds: about 18 minutes; some policies may be given), `heterogeneous-virtual` (the same in virtual
 * time). `profiles` (what
 * fits of latency profiles cost). All without an argument.
 */
/** Two cases for each. */
const LIVE_SEEDS = 10;
const [part = 'all', given] = process.argv.slice(2);
const truth = fileURLToPath(new URL('../../../../shared/truth/h200_fleet', import.meta.url));
const say = (line: string) => void process.stdout.write(`${line}\n`);
const parts: Record<string, () => Promise<boolean>> = {
  virtual: () => virtual(say),
  emulated: () => {
    const [kinds, policies, seed] = part === 'emulated' ? process.argv.slice(3) : [];
    return emulated(say, kinds, policies, Number(seed ?? 1));
  },
  live: () => live(Number(part === 'live' ? (given ?? LIVE_SEEDS) : LIVE_SEEDS), say, process.argv[4]),
  'heterogeneous-virtual': () => heterogeneousVirtual(say, part === 'heterogeneous-virtual' ? given : undefined),
  heterogeneous: () => heterogeneous(say, part === 'heterogeneous' ? given : undefined),
  h200: () => h200(given ?? truth, say),
  profiles: () => profiles(say),
};
for (const [name, run] of Object.entries(parts)) {
  if (part !== 'all' && part !== name) continue;
  say(`\n# ${name}\n`);
  if (!(await run())) process.exitCode = 1;
}
