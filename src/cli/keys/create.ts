import { checkKey } from '../../store/keys/check-key.js';
import { missingFlag } from '../errors.js';
import { type CommandLine, helpText } from '../flags/command-line.js';
import { asksForHelp, parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { keysSummaryOf } from '../keys.js';
import { COMMAND_LINE } from './command-line-actor.js';
import { keyFlags, keySettings } from './key-flags.js';
import { changedLimits, limitChanges, limitFlags } from './limit-flags.js';
import { checkMaxSloClass } from './max-slo-class.js';
import { printIssued } from './print-key.js';
import { formatFlags, storeFlags, withStore } from './store-flags.js';

export const KEYS_CREATE: CommandLine = {
  name: 'keys create',
  summary: keysSummaryOf('create'),
  groups: [
    { title: 'Key', flags: keyFlags },
    { title: 'Limits', flags: limitFlags },
    { title: 'Store', flags: storeFlags },
    { title: 'Output', flags: formatFlags },
  ],
  examples: [
    'keys create --name web',
    'keys create --name nightly --max-slo-class batch --expires 30d --tokens-per-day 2000000',
    "keys create --name trial --model llama-8b --concurrent 2 --limit 'model=llama-8b,requests-per-minute=5'",
  ],
};

type CreateFlags = typeof keyFlags & typeof limitFlags & typeof storeFlags & typeof formatFlags;

export async function create(argv: readonly string[], io: CliIo): Promise<number> {
  if (asksForHelp(argv)) {
    io.stdout.write(await helpText(KEYS_CREATE));
    return 0;
  }
  const { values } = await parseFlags<CreateFlags>(KEYS_CREATE, argv);
  const { format, name } = values;
  if (name === null) throw missingFlag('--name', 'is required', 'say what or whom the key is for');
  const now = Date.now();
  const settings = { ...keySettings(values, now), name, limits: changedLimits({}, limitChanges(values)) };
  // Before a store is made for it.
  checkKey(settings);
  await checkMaxSloClass(settings.maxSloClass, values, io);
  return withStore(values, io, true, async (store) => {
    const { key, text } = await store.keys.create(settings, COMMAND_LINE);
    const note = `made key ${key.id} (${key.name}); keep its text now, it is not shown again`;
    printIssued(key, text, now, format, note, io);
    return 0;
  });
}
