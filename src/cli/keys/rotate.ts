import { type CommandLine, helpText } from '../flags/command-line.js';
import { list } from '../flags/kinds.js';
import { asksForHelp, parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { keysSummaryOf } from '../keys.js';
import { calledKey, ONE_KEY } from './called-key.js';
import { COMMAND_LINE } from './command-line-actor.js';
import { printIssued, timeText } from './print-key.js';
import { readSpan, SPANS } from './read-span.js';
import { formatFlags, storeFlags, withStore } from './store-flags.js';

const DAY_MS = 86_400_000;

const rotateFlags = {
  grace: list<number>({
    default: DAY_MS,
    defaultText: '24h',
    placeholder: 'duration',
    accepted: SPANS,
    help: 'how long the present text is still accepted; 0 if somebody else may have it',
    read: readSpan,
  }),
};

export const KEYS_ROTATE: CommandLine = {
  name: 'keys rotate',
  summary: keysSummaryOf('rotate'),
  operands: ONE_KEY,
  groups: [
    { title: 'Rotation', flags: rotateFlags },
    { title: 'Store', flags: storeFlags },
    { title: 'Output', flags: formatFlags },
  ],
  examples: ['keys rotate web', 'keys rotate web --grace 0'],
};

type RotateFlags = typeof rotateFlags & typeof storeFlags & typeof formatFlags;

export async function rotate(argv: readonly string[], io: CliIo): Promise<number> {
  if (asksForHelp(argv)) {
    io.stdout.write(await helpText(KEYS_ROTATE));
    return 0;
  }
  const { operands, values } = await parseFlags<RotateFlags>(KEYS_ROTATE, argv);
  return withStore(values, io, false, async (store) => {
    const { id } = await calledKey(store, operands[0]!);
    const now = await store.now();
    const until = values.grace === 0 ? null : now + values.grace;
    const { key, text } = await store.keys.rotate(id, until, COMMAND_LINE);
    const before =
      until === null ? 'not accepted any more' : `accepted until ${timeText(new Date(until).toISOString())}`;
    const note = `key ${key.id} (${key.name}) has a new text, not shown again; the one before is ${before}`;
    printIssued(key, text, now, values.format, note, io);
    return 0;
  });
}
