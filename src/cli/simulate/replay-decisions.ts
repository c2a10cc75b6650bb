import { DecisionReplay } from '../../gateway/decisions/replay-decisions.js';
import { forEachLine } from '../../workload/input-chunks.js';
import { refuseGiven } from '../config/flag-conflicts.js';
import { flagsOf } from '../flags/command-line.js';
import type { FlagTable, FlagValues } from '../flags/flag.js';
import type { CliIo } from '../io.js';
import { REPLAY } from './replay.js';

/** Further ones are counted, not listed. */
const LISTED = 20;

/** Repeats the decisions of a gateway; 1 when one of them differs. */
export async function replayDecisions(path: string, flags: FlagValues<FlagTable>, io: CliIo): Promise<number> {
  const others = Object.keys(flagsOf(REPLAY)).filter((name) => name !== 'decisions');
  refuseGiven(flags, others, 'the log has everything that decisions depend on', 'leave it out');
  const replay = new DecisionReplay(path);
  await forEachLine(path, (line, number) => {
    if (line !== '') replay.line(line, number);
  });
  const { decisions, differences } = replay;
  const result = {
    decisions,
    equal: decisions - differences.length,
    different: differences.length,
    policies: Object.fromEntries([...replay.byPolicy].sort()),
    differences: differences.slice(0, LISTED),
  };
  io.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  return differences.length === 0 ? 0 : 1;
}
