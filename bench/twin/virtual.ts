import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answerWhatIf } from '../../src/twin/whatif/answer-whatif.js';
import { REPLICA, trafficTable } from '../../src/twin/whatif/recorded-run.fixture.js';
import { recordedWorld } from '../../test/support/recorded-world.js';
import { JudgedCases } from './judged-case.js';

const SEEDS = 10;

/**
 * A gateway and emulated engines in virtual time: traffic with shared prefixes through round-robin, and from its recording what
 * lmetric would do, and three replicas instead of four; then both serve the same traffic.
 */
export async function virtual(say: (line: string) => void): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-twin-'));
  const cases = new JudgedCases(say);
  try {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const traffic = { seed, requests: 1200, rate: 50 + 3 * seed, prefixes: 40 };
      const recording = join(folder, `${seed}.jsonl`);
      writeFileSync(recording, (await recordedWorld(trafficTable(traffic), { policy: 'round-robin', seed })).lines);
      const { alternatives } = await answerWhatIf(
        {
          recording,
          replica: REPLICA,
          gateway: { signalsUs: 1_000_000, blockSize: 16 },
          alternatives: [
            { routing: { policy: 'lmetric', options: {} } },
            { routing: { policy: 'round-robin', options: {} }, replicas: 3 },
          ],
        },
        () => {},
      );
      const lmetric = await recordedWorld(trafficTable(traffic), { policy: 'lmetric', seed: seed + 100 });
      cases.add(`${traffic.rate} req/s, lmetric`, alternatives[0]!, lmetric.measured);
      const three = await recordedWorld(trafficTable(traffic), { policy: 'round-robin', replicas: 3 });
      cases.add(`${traffic.rate} req/s, 3 replicas`, alternatives[1]!, three.measured);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return cases.report();
}
