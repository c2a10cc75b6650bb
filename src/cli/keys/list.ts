import type { CommandLine } from '../flags/command-line.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, listPresentation } from '../io.js';
import { keysSummaryOf } from '../keys.js';
import { keyFields } from './print-key.js';
import { FORMAT_GROUP, KEY_API_GROUPS, type keyApiFlags, withKeys } from './with-keys.js';

export const KEYS_LIST: CommandLine = {
  name: 'keys list',
  summary: keysSummaryOf('list'),
  about:
    'Prints the keys of a workspace with their phase, tenant, models and expiry; the table never contains a secret.',
  groups: [...KEY_API_GROUPS, FORMAT_GROUP],
  examples: ['keys list', 'keys list --format json'],
};

const COLUMNS = ['name', 'id', 'phase', 'tenant', 'models', 'role', 'secret', 'expires'] as const;

export async function list(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof keyApiFlags>(KEYS_LIST, argv);
  return withKeys(values, io, false, async (keys) => {
    const all = await keys.list();
    if (values.format === 'json') {
      io.stdout.write(`${JSON.stringify(all, null, 2)}\n`);
      return 0;
    }
    const { createStyle } = await import('../../report/text/style.js');
    const rows = all.map(keyFields).map((fields) => COLUMNS.map((column) => fields[column]));
    const table = createStyle(listPresentation(io)).table(
      [[...COLUMNS], ...rows],
      COLUMNS.map(() => 'left'),
    );
    io.stdout.write(`${table.join('\n')}\n`);
    return 0;
  });
}
