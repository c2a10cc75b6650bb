import { type CommandLine, helpText } from '../flags/command-line.js';
import { asksForHelp, parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { keysSummaryOf } from '../keys.js';
import { calledKey, ONE_KEY } from './called-key.js';
import { COMMAND_LINE } from './command-line-actor.js';
import { printKey } from './print-key.js';
import { formatFlags, storeFlags, withStore } from './store-flags.js';

export const KEYS_REVOKE: CommandLine = {
  name: 'keys revoke',
  summary: keysSummaryOf('revoke'),
  operands: ONE_KEY,
  groups: [
    { title: 'Store', flags: storeFlags },
    { title: 'Output', flags: formatFlags },
  ],
  examples: ['keys revoke web', 'keys revoke web --format json'],
};

export async function revoke(argv: readonly string[], io: CliIo): Promise<number> {
  if (asksForHelp(argv)) {
    io.stdout.write(await helpText(KEYS_REVOKE));
    return 0;
  }
  const { operands, values } = await parseFlags<typeof storeFlags & typeof formatFlags>(KEYS_REVOKE, argv);
  return withStore(values, io, false, async (store) => {
    const { id } = await calledKey(store, operands[0]!);
    await printKey(await store.keys.revoke(id, COMMAND_LINE), await store.now(), values.format, io);
    return 0;
  });
}
