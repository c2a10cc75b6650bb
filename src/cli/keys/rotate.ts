import type { CommandLine } from '../flags/command-line.js';
import { listFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { keysSummaryOf } from '../keys.js';
import { readSpan, SPANS } from './flags/read-span.js';
import { ONE_KEY, printIssued, timeText } from './print-key.js';
import { FORMAT_GROUP, KEY_API_GROUPS, type keyApiFlags, withKeys } from './with-keys.js';

const DAY_MS = 86_400_000;

const rotateFlags = {
  grace: listFlag<number>({
    default: DAY_MS,
    defaultText: '24h',
    placeholder: 'duration',
    accepted: SPANS,
    help: 'how long the present secret is still accepted; 0 if it may have leaked',
    read: readSpan,
  }),
};

export const KEYS_ROTATE: CommandLine = {
  name: 'keys rotate',
  summary: keysSummaryOf('rotate'),
  about:
    'Use it to replace a secret without downtime: change the clients within --grace, during which both secrets are accepted.',
  operands: ONE_KEY,
  groups: [{ title: 'Rotation', flags: rotateFlags }, ...KEY_API_GROUPS, FORMAT_GROUP],
  examples: ['keys rotate web', 'keys rotate web --grace 0'],
};

export async function rotate(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof rotateFlags & typeof keyApiFlags>(KEYS_ROTATE, argv);
  return withKeys(values, io, false, async (keys) => {
    const { name } = (await keys.find(operands[0]!)).metadata;
    const { key: secret, previous_until: until } = await keys.issue(name, Math.round(values.grace / 1000));
    const key = await keys.find(name);
    const before = until === null ? 'no longer accepted' : `accepted until ${timeText(until)}`;
    const note = `key ${name} (${key.metadata.uid}) has a new secret, not shown again; the one before is ${before}`;
    printIssued(key, secret, values.format, note, io);
    return 0;
  });
}
