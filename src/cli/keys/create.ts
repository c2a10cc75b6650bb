import { missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { stringFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { keysSummaryOf } from '../keys.js';
import { withFlagPlaces } from './flags/flag-places.js';
import { changedKey, keyChanges, keyFlags, limitFlags } from './flags/key-flags.js';
import { printIssued } from './print-key.js';
import { FORMAT_GROUP, KEY_API_GROUPS, type keyApiFlags, withKeys } from './with-keys.js';

const nameFlags = {
  name: stringFlag({ default: null, placeholder: 'name', help: 'name of the ApiKey in its workspace' }),
};

export const KEYS_CREATE: CommandLine = {
  name: 'keys create',
  summary: keysSummaryOf('create'),
  about:
    'The secret is printed once, alone on stdout; the store has only its hash. A new key may use all models without limits, unless ' +
    'flags say otherwise.',
  groups: [
    { title: 'Key', flags: { ...nameFlags, ...keyFlags } },
    { title: 'Limits', flags: limitFlags },
    ...KEY_API_GROUPS,
    FORMAT_GROUP,
  ],
  examples: [
    'keys create --name web',
    'keys create --name nightly --max-slo-class batch --expires 30d --tokens-per-day 2000000',
    "keys create --name trial --model llama-8b --concurrent 2 --limit 'model=llama-8b,requests-per-minute=5'",
  ],
};

type CreateFlags = typeof nameFlags & typeof keyFlags & typeof limitFlags & typeof keyApiFlags;

/** Creates an ApiKey and issues its secret. */
export async function create(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<CreateFlags>(KEYS_CREATE, argv);
  const { format, name } = values;
  if (name === null) throw missingFlag('--name', 'is required', 'give the key a name');
  const spec = changedKey({}, keyChanges(values, Date.now()));
  return withKeys(values, io, true, async (keys) => {
    await withFlagPlaces(keys.create(name, spec));
    const { key: secret } = await keys.issue(name, 0);
    const key = await keys.find(name);
    const note = `created key ${name} (${key.metadata.uid}); store its secret now, it is not shown again`;
    printIssued(key, secret, format, note, io);
    return 0;
  });
}
