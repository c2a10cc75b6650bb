import { RunError } from '../../kernel/errors.js';
import { missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { keysSummaryOf } from '../keys.js';
import { withFlagPlaces } from './flags/flag-places.js';
import { changedKey, type GivenKey, type KeyChanges, keyChanges, keyFlags, limitFlags } from './flags/key-flags.js';
import type { KeyApi, ShownKey } from './key-api.js';
import { ONE_KEY, printKey } from './print-key.js';
import { FORMAT_GROUP, KEY_API_GROUPS, type keyApiFlags, withKeys } from './with-keys.js';

/** Settings that are not given stay: no flag has a default. */
const withoutDefaults = Object.fromEntries(
  Object.entries(keyFlags).map(([name, flag]) => [name, { ...flag, defaultText: '' }]),
) as typeof keyFlags;

export const KEYS_UPDATE: CommandLine = {
  name: 'keys update',
  summary: keysSummaryOf('update'),
  about:
    "Settings that no flag names stay as they are. 'none' removes a limit, and a gateway applies the change within a second.",
  operands: ONE_KEY,
  groups: [
    { title: 'Key', flags: withoutDefaults },
    { title: 'Limits', flags: limitFlags },
    ...KEY_API_GROUPS,
    FORMAT_GROUP,
  ],
  examples: [
    'keys update web --requests-per-minute 120',
    "keys update web --model '*' --expires never --max-slo-class any",
    "keys update web --requests-per-minute none --limit 'model=llama-8b,concurrent=2'",
  ],
};

type UpdateFlags = typeof keyFlags & typeof limitFlags & typeof keyApiFlags;

/** Retries after concurrent changes of the key. */
const MOST_TRIES = 10;

export async function update(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<UpdateFlags>(KEYS_UPDATE, argv);
  const changes = keyChanges(values, Date.now());
  if (Object.keys(changes.settings).length === 0 && changes.limits.length === 0) {
    const hint = "give a flag of 'twinyard keys update --help'";
    throw missingFlag("command 'keys update'", 'no setting is given', hint);
  }
  return withKeys(values, io, false, async (keys) => {
    await printKey(await changed(keys, operands[0]!, changes), values.format, io);
    return 0;
  });
}

async function changed(keys: KeyApi, called: string, changes: KeyChanges): Promise<ShownKey> {
  for (let tries = 1; ; tries++) {
    const before = await keys.find(called);
    try {
      return await withFlagPlaces(keys.put(before, changedKey(before.spec as GivenKey, changes)));
    } catch (error) {
      const isConflict = error instanceof RunError && error.code === 'RESOURCE_CONFLICT';
      if (!isConflict || tries === MOST_TRIES) throw error;
    }
  }
}
