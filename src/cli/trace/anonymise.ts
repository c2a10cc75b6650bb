import type { CliIo } from '../io.js';
import { changeCommand, changeTrace } from './change-trace.js';

export const TRACE_ANONYMISE = changeCommand('anonymise', 'Use it before sharing a trace.', {}, [
  'trace anonymise agents.csv -o shareable.csv.gz',
]);

export async function anonymise(argv: readonly string[], io: CliIo): Promise<number> {
  return changeTrace(TRACE_ANONYMISE, argv, io, async () => {
    return (await import('../../workload/tools/anonymise.js')).anonymise;
  });
}
