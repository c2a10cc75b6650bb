import { type CommandLine, helpText } from '../flags/command-line.js';
import { asksForHelp, parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { keysSummaryOf } from '../keys.js';
import { calledKey, ONE_KEY } from './called-key.js';
import { printKey } from './print-key.js';
import { formatFlags, storeFlags, withStore } from './store-flags.js';

export const KEYS_SHOW: CommandLine = {
  name: 'keys show',
  summary: keysSummaryOf('show'),
  operands: ONE_KEY,
  groups: [
    { title: 'Store', flags: storeFlags },
    { title: 'Output', flags: formatFlags },
  ],
  examples: ['keys show web', 'keys show web --format json'],
};

export async function show(argv: readonly string[], io: CliIo): Promise<number> {
  if (asksForHelp(argv)) {
    io.stdout.write(await helpText(KEYS_SHOW));
    return 0;
  }
  const { operands, values } = await parseFlags<typeof storeFlags & typeof formatFlags>(KEYS_SHOW, argv);
  return withStore(values, io, false, async (store) => {
    await printKey(await calledKey(store, operands[0]!), await store.now(), values.format, io);
    return 0;
  });
}
