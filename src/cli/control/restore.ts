import { summaryOf } from '../commands.js';
import { missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { file } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { storeFlags, withStore } from '../keys/flags/store-flags.js';

const restoreFlags = { from: file({ help: "a file that 'backup' has written" }) };

export const RESTORE: CommandLine = {
  name: 'restore',
  summary: summaryOf('restore'),
  about:
    'The backup may come from SQLite or PostgreSQL, whichever the new store is. Copy the key file of the old store to the new one, ' +
    'or stored credentials cannot be decrypted.',
  groups: [
    { title: 'File', flags: restoreFlags },
    { title: 'Store', flags: storeFlags },
  ],
  examples: ['restore --store new.db --from monday.backup'],
};

/** Fills an empty store of any kind from a backup of any kind. */
export async function restoreCommand(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof restoreFlags & typeof storeFlags>(RESTORE, argv);
  const { from } = values;
  if (from === null) throw missingFlag('--from', 'is required', 'name the backup');
  return withStore(values, io, true, async (store) => {
    const { restore } = await import('../../store/backup/restore.js');
    await restore(store, from);
    io.stderr.write(`twinyard: ${store.address} holds what ${from} did; put the key file of its secrets beside it\n`);
    return 0;
  });
}
