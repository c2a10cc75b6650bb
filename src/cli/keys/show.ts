import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { keysSummaryOf } from '../keys.js';
import { ONE_KEY, printKey } from './print-key.js';
import { FORMAT_GROUP, KEY_API_GROUPS, type keyApiFlags, withKeys } from './with-keys.js';

export const KEYS_SHOW: CommandLine = {
  name: 'keys show',
  summary: keysSummaryOf('show'),
  about:
    'KEY is the name or the id of a key. Limits and the time until which a rotated secret is accepted are listed as well.',
  operands: ONE_KEY,
  groups: [...KEY_API_GROUPS, FORMAT_GROUP],
  examples: ['keys show web', 'keys show web --format json'],
};

export async function show(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof keyApiFlags>(KEYS_SHOW, argv);
  return withKeys(values, io, false, async (keys) => {
    await printKey(await keys.find(operands[0]!), values.format, io);
    return 0;
  });
}
