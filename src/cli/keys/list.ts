import { keyView } from '../../store/keys/key-view.js';
import { type CommandLine, helpText } from '../flags/command-line.js';
import { asksForHelp, parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { keysSummaryOf } from '../keys.js';
import { modelsText, timeText } from './print-key.js';
import { formatFlags, storeFlags, withStore } from './store-flags.js';

export const KEYS_LIST: CommandLine = {
  name: 'keys list',
  summary: keysSummaryOf('list'),
  groups: [
    { title: 'Store', flags: storeFlags },
    { title: 'Output', flags: formatFlags },
  ],
  examples: ['keys list', 'keys list --format json'],
};

const COLUMNS = ['id', 'name', 'state', 'tenant', 'models', 'role', 'text', 'expires'];

export async function list(argv: readonly string[], io: CliIo): Promise<number> {
  if (asksForHelp(argv)) {
    io.stdout.write(await helpText(KEYS_LIST));
    return 0;
  }
  const { values } = await parseFlags<typeof storeFlags & typeof formatFlags>(KEYS_LIST, argv);
  return withStore(values, io, false, async (store) => {
    const now = await store.now();
    const views = (await store.keys.list()).map((key) => keyView(key, now));
    if (values.format === 'json') {
      io.stdout.write(`${JSON.stringify(views, null, 2)}\n`);
      return 0;
    }
    const { textTable } = await import('../../report/text/text-table.js');
    const rows = views.map((view) => [
      ...[view.id, view.name, view.state, view.tenant, modelsText(view), view.role, `...${view.hint}`],
      view.expires_at === null ? 'never' : timeText(view.expires_at),
    ]);
    const table = textTable(
      [COLUMNS, ...rows],
      COLUMNS.map(() => 'left'),
    );
    io.stdout.write(`${table.join('\n')}\n`);
    return 0;
  });
}
