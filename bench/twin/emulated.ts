import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answerWhatIf } from '../../src/twin/whatif/answer-whatif.js';
import { recordedWorld } from '../../test/support/recorded-world.js';
import { emulatedEngine } from './emulated-engine.js';
import { EMULATED_TRAFFIC } from './emulated-traffic.js';
import { H200_REPLICA } from './h200.js';
import { baselineText, JudgedRuns } from './judged-runs.js';

const POLICIES = [
  ...['lmetric', 'weighted', 'least-loaded', 'unified', 'sglang-cache-aware', 'sticky', 'power-of-two', 'random'],
  ...['load-only', 'session-hash', 'lpwl', 'vllm-least', 'dynamo-cost', 'sticky-until-saturated', 'chwbl'],
];
/** Of policies that pile requests up, two runs differ by more than the bounds: their intervals have to be wide, and are. */
const LEAST_INSIDE = 0.9;
const LEAST_CLOSE = 0.9;
const OPTIONS: Readonly<Record<string, Record<string, unknown>>> = { chwbl: { key: 'prefix-blocks' } };

/**
 * What the measured runs cannot show: other kinds of traffic and other policies. A gateway in front of emulated engines whose step times
 * what-if does not know, in virtual time: from the recording of round-robin alone, what every policy then does to the same traffic.
 * @param only kinds of traffic, separated by commas; `all` by default
 * @param policies likewise
 * @param seed of traffic and engines
 */
export async function emulated(
  say: (line: string) => void,
  only = 'all',
  policies = 'all',
  seed = 1,
): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-emulated-'));
  const judged = new JudgedRuns(say);
  const asked = POLICIES.filter((name) => isIn(policies, name)).map((policy) => ({
    policy,
    options: OPTIONS[policy] ?? {},
  }));
  try {
    for (const [name, traffic] of Object.entries(EMULATED_TRAFFIC)) {
      if (!isIn(only, name)) continue;
      const run = (policy: string, options: Record<string, unknown>, number: number) => {
        const { table, turns } = traffic(seed);
        const own = 1000 * (seed - 1) + number;
        const live = { policy, options, seed: own, engine: emulatedEngine(own) };
        return recordedWorld(table, turns === undefined ? live : { ...live, turns });
      };
      const { lines } = await run('round-robin', {}, 1);
      const recording = join(folder, `${name}.jsonl`);
      writeFileSync(recording, lines);
      const document = await answerWhatIf(
        {
          recording,
          replica: H200_REPLICA,
          gateway: { signalsUs: 1_000_000, blockSize: 16 },
          alternatives: asked.map((routing) => ({ routing })),
        },
        () => {},
      );
      say(`\n${name}: ${baselineText(document)}`);
      for (const [i, { options, policy }] of asked.entries()) {
        const { measured } = await run(policy, options, i + 2);
        judged.add(`${name}, ${policy}`, document.alternatives[i]!, measured);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return judged.report(LEAST_INSIDE, LEAST_CLOSE);
}

const isIn = (names: string, name: string) => names === 'all' || names.split(',').includes(name);
