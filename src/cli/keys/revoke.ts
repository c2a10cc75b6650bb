import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { keysSummaryOf } from '../keys.js';
import { ONE_KEY, printKey } from './print-key.js';
import { FORMAT_GROUP, KEY_API_GROUPS, type keyApiFlags, withKeys } from './with-keys.js';

export const KEYS_REVOKE: CommandLine = {
  name: 'keys revoke',
  summary: keysSummaryOf('revoke'),
  about:
    'The key is refused from then on, and its usage stays in the store. A revoked key cannot be used again: create a new one.',
  operands: ONE_KEY,
  groups: [...KEY_API_GROUPS, FORMAT_GROUP],
  examples: ['keys revoke web', 'keys revoke web --format json'],
};

export async function revoke(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof keyApiFlags>(KEYS_REVOKE, argv);
  return withKeys(values, io, false, async (keys) => {
    const { metadata } = await keys.find(operands[0]!);
    await printKey(await keys.revoke(metadata.name), values.format, io);
    return 0;
  });
}
