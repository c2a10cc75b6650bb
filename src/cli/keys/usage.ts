import { USAGE_DIMENSIONS, type UsageDimension } from '../../store/usage/usage-record.js';
import type { UsageView } from '../../store/usage/usage-view.js';
import { badChoice, badValue, conflictingFlags } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { choiceFlag, listFlag, stringFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, presentation } from '../io.js';
import { keysSummaryOf } from '../keys.js';
import { readDay } from './flags/read-span.js';
import type { ShownKey } from './key-api.js';
import { KEY_API_GROUPS, type keyApiFlags, withKeys } from './with-keys.js';

function day(help: string) {
  const accepted = "a day as in '2026-01-31'";
  return listFlag<string | null>({ default: null, placeholder: 'day', accepted, read: readDay, help });
}

const usageFlags = {
  key: stringFlag({ default: null, placeholder: 'key', help: 'of one key, by its id or name' }),
  model: stringFlag({ default: null, placeholder: 'name', help: 'of one model' }),
  endpoint: stringFlag({ default: null, placeholder: 'name', help: 'of one endpoint' }),
  outcome: stringFlag({
    default: null,
    placeholder: 'name',
    help: 'of requests that ended so: ok, or what went wrong',
  }),
  from: day('from this day on, UTC'),
  to: day('up to this day, with it, UTC'),
  by: listFlag<readonly UsageDimension[]>({
    default: ['key', 'model'],
    defaultText: 'key,model',
    accepted: `some of ${USAGE_DIMENSIONS.join(', ')} with commas between them, or total`,
    help: 'dimensions of the rows; total for one sum',
    read: readBy,
  }),
};

const outputFlags = {
  format: choiceFlag({
    default: 'table',
    known: ['table', 'json', 'csv'],
    help: 'output format',
  }),
};

type UsageFlags = typeof usageFlags & Omit<typeof keyApiFlags, 'format'> & typeof outputFlags;

export const KEYS_USAGE: CommandLine = {
  name: 'keys usage',
  summary: keysSummaryOf('usage'),
  about:
    'Counts requests, tokens and costs: of all workspaces, or with -n of the keys and endpoints of one. Use --by to choose the rows ' +
    'and --from and --to for the days, and --format csv for a spreadsheet.',
  groups: [{ title: 'Usage', flags: usageFlags }, ...KEY_API_GROUPS, { title: 'Output', flags: outputFlags }],
  examples: [
    'keys usage',
    'keys usage --key web --from 2026-01-01 --to 2026-01-31 --by day,outcome',
    'keys usage --by key,model,endpoint,day,outcome --format csv',
  ],
};

function readBy(given: string, place: string): readonly UsageDimension[] {
  if (given.trim() === 'total') return [];
  const names = given.split(',').map((name) => name.trim());
  names.forEach((name, i) => {
    if (!(USAGE_DIMENSIONS as readonly string[]).includes(name)) throw badChoice(place, name, USAGE_DIMENSIONS);
    if (names.indexOf(name) !== i) throw badValue(place, name, 'appears twice', 'each once');
  });
  return names as UsageDimension[];
}

export async function usage(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<UsageFlags>(KEYS_USAGE, argv);
  const { by, format, from, key, to } = values;
  if (from !== null && to !== null && from > to) {
    throw conflictingFlags('--to', 'is before --from', 'give a later day');
  }
  return withKeys(values, io, false, async (keys) => {
    const uid = key === null ? null : (await keys.find(key)).metadata.uid!;
    const { items } = await keys.client.list<UsageView>('/api/v1/usage', { query: usageQuery(values, uid) });
    if (format === 'json') io.stdout.write(`${JSON.stringify(items, null, 2)}\n`);
    else if (format === 'csv') {
      const { usageCsv } = await import('../../store/usage/usage-view.js');
      io.stdout.write(usageCsv(items, by));
    } else {
      const { usageTable } = await import('./usage-table.js');
      const { items: all } = await keys.client.list<ShownKey>('/api/v1/apikeys');
      const names = new Map(all.map(({ metadata }) => [metadata.uid!, metadata.name]));
      io.stdout.write(usageTable(items, by, names, presentation(io)));
    }
    return 0;
  });
}

function usageQuery(values: FlagValues<UsageFlags>['values'], key: string | null) {
  const { by, endpoint, from, model, outcome, to, workspace } = values;
  return { by: by.length === 0 ? 'total' : by.join(','), key, workspace, endpoint, from, model, outcome, to };
}
