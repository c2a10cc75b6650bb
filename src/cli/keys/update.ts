import { missingFlag } from '../errors.js';
import { type CommandLine, helpText } from '../flags/command-line.js';
import { asksForHelp, parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { keysSummaryOf } from '../keys.js';
import { calledKey, ONE_KEY } from './called-key.js';
import { COMMAND_LINE } from './command-line-actor.js';
import { keyFlags, keySettings } from './key-flags.js';
import { changedLimits, limitChanges, limitFlags } from './limit-flags.js';
import { checkMaxSloClass } from './max-slo-class.js';
import { printKey } from './print-key.js';
import { formatFlags, storeFlags, withStore } from './store-flags.js';

/** A key has no defaults to go back to: what is not given stays. */
const withoutDefaults = Object.fromEntries(
  Object.entries(keyFlags).map(([name, flag]) => [name, { ...flag, defaultText: '' }]),
) as typeof keyFlags;

export const KEYS_UPDATE: CommandLine = {
  name: 'keys update',
  summary: keysSummaryOf('update'),
  operands: ONE_KEY,
  groups: [
    { title: 'Key', flags: withoutDefaults },
    { title: 'Limits', flags: limitFlags },
    { title: 'Store', flags: storeFlags },
    { title: 'Output', flags: formatFlags },
  ],
  examples: [
    'keys update web --requests-per-minute 120',
    "keys update web --model '*' --expires never --max-slo-class any",
    "keys update web --requests-per-minute none --limit 'model=llama-8b,concurrent=2'",
  ],
};

type UpdateFlags = typeof keyFlags & typeof limitFlags & typeof storeFlags & typeof formatFlags;

export async function update(argv: readonly string[], io: CliIo): Promise<number> {
  if (asksForHelp(argv)) {
    io.stdout.write(await helpText(KEYS_UPDATE));
    return 0;
  }
  const { operands, values } = await parseFlags<UpdateFlags>(KEYS_UPDATE, argv);
  const now = Date.now();
  const settings = keySettings(values, now);
  const changes = limitChanges(values);
  if (Object.keys(settings).length === 0 && changes.length === 0) {
    const hint = "give a flag of 'twinyard keys update --help'";
    throw missingFlag("command 'keys update'", 'nothing says what to change', hint);
  }
  await checkMaxSloClass(settings.maxSloClass, values, io);
  return withStore(values, io, false, async (store) => {
    const { id } = await calledKey(store, operands[0]!);
    const key = await store.keys.update(
      id,
      ({ limits }) => ({ ...settings, limits: changedLimits(limits, changes) }),
      COMMAND_LINE,
    );
    await printKey(key, now, values.format, io);
    return 0;
  });
}
