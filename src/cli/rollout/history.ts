import { createStyle } from '../../report/text/style.js';
import { differences } from '../../store/resources/resource-differences.js';
import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { secondText } from '../control/print/time-text.js';
import { calledResource } from '../control/targets/called-resource.js';
import { kindList } from '../control/targets/kind-list.js';
import { badValue } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { choiceFlag, count } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, listPresentation } from '../io.js';
import { rolloutSummaryOf } from '../rollout.js';

const historyFlags = {
  revision: count({ default: null, min: 1, help: 'print the spec of this revision' }),
  output: { ...choiceFlag({ default: 'table', known: ['table', 'json'], help: 'output format' }), letter: 'o' },
  ...workspaceFlags,
};

export const ROLLOUT_HISTORY: CommandLine = {
  name: 'rollout history',
  summary: rolloutSummaryOf('history'),
  about:
    'A revision is a generation of the spec; the last 20 are kept. The table lists what each changed; who made the change is in ' +
    "'twinyard events --audit'.",
  operands: { usage: 'KIND/NAME', least: 1, most: 2 },
  groups: [
    { title: 'Resource', flags: historyFlags },
    { title: 'Server', flags: serverFlags },
  ],
  more: kindList,
  examples: ['rollout history ep/chat', 'rollout history ep/chat --revision 1'],
};

interface RevisionView {
  readonly revision: number;
  readonly current: boolean;
  readonly at: string;
  readonly spec: Record<string, unknown>;
}

/** Lists revisions, the oldest first, or prints one. */
export async function rolloutHistory(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof historyFlags & typeof serverFlags>(ROLLOUT_HISTORY, argv);
  const called = await calledResource(operands, workspaceFor(values, io), ROLLOUT_HISTORY);
  const { items } = await ApiClient.of(values, io).list<RevisionView>(`${called.path}/revisions`);
  const all = [...items].reverse();
  const { output, revision } = values;
  if (revision !== null) {
    const found = all.find((one) => one.revision === revision);
    const kept = all.map((one) => one.revision).join(', ');
    if (found === undefined) throw badValue('--revision', String(revision), 'is not kept', `one of ${kept}`);
    const { stringify } = await import('yaml');
    const text = output === 'json' ? `${JSON.stringify(found, null, 2)}\n` : stringify(found.spec, { lineWidth: 0 });
    io.stdout.write(text);
    return 0;
  }
  if (output === 'json') io.stdout.write(`${JSON.stringify(all, null, 2)}\n`);
  else if (all.length === 0) io.stderr.write(`twinyard: ${called.shown}: no revision is kept yet\n`);
  else {
    const rows = all.map((one, i) => [
      ...[String(one.revision), one.current ? '*' : '', secondText(one.at), changeText(all[i - 1], one)],
    ]);
    const titles = ['REVISION', 'CURRENT', 'CHANGED', 'DIFFERENCES'];
    const lines = createStyle(listPresentation(io)).table(
      [titles, ...rows],
      titles.map(() => 'left' as const),
    );
    for (const line of lines) io.stdout.write(`${line}\n`);
  }
  return 0;
}

function changeText(before: RevisionView | undefined, { revision, spec }: RevisionView): string {
  if (before === undefined) return revision === 1 ? 'created' : '';
  const found = differences({ spec: before.spec }, { spec });
  if (found.length === 0) return 'a secret';
  const shown = found.slice(0, 3).map((one) => `${one.path}: ${shortText(one.before)} -> ${shortText(one.after)}`);
  return [...shown, ...(found.length > 3 ? [`${found.length - 3} more`] : [])].join(', ').replace(/\p{Cc}/gu, '?');
}

const shortText = (value: unknown) => (value === undefined ? '(absent)' : JSON.stringify(value).slice(0, 60));
