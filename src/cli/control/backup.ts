import { summaryOf } from '../commands.js';
import { missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { file } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { storeAddressOf, storeFlags } from '../keys/flags/store-flags.js';

const backupFlags = { to: file({ help: 'file to create' }) };

export const BACKUP: CommandLine = {
  name: 'backup',
  summary: summaryOf('backup'),
  about:
    'Works while a gateway uses the store. Stored credentials are encrypted: keep a copy of the key file of the store as well, in ' +
    'another place.',
  groups: [
    { title: 'File', flags: backupFlags },
    { title: 'Store', flags: storeFlags },
  ],
  examples: ['backup --store .twinyard/twinyard.db --to monday.backup'],
};

/** Copies the store itself, also while a gateway uses it. */
export async function backup(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof backupFlags & typeof storeFlags>(BACKUP, argv);
  if (values.to === null) throw missingFlag('--to', 'is required', 'name the new file');
  const address = await storeAddressOf(values, io);
  const [{ backUp }, { openStore }] = await Promise.all([
    import('../../store/backup/backup.js'),
    import('../../store/open-store.js'),
  ]);
  const store = await openStore(address, { create: false });
  try {
    await backUp(address, store, values.to);
  } finally {
    await store.close();
  }
  io.stderr.write(
    `twinyard: ${values.to} holds all of ${store.address}; its secrets need their key file, which is not in it\n`,
  );
  return 0;
}
