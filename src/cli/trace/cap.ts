import { count } from '../flags/kinds.js';
import type { CliIo } from '../io.js';
import { changeCommand, changeTrace } from './change-trace.js';

const capFlags = {
  'max-turns': count({ default: 8, min: 1, help: 'turns to keep of every session' }),
};

export const TRACE_CAP = changeCommand('cap', 'Use it to see what very long sessions do to a result.', capFlags, [
  'trace cap --max-turns 8 agents.csv -o capped.csv',
]);

export async function cap(argv: readonly string[], io: CliIo): Promise<number> {
  return changeTrace<typeof capFlags>(TRACE_CAP, argv, io, async ({ values }) => {
    const { capTurns } = await import('../../workload/tools/cap-turns.js');
    return (trace) => capTurns(trace, values['max-turns']);
  });
}
