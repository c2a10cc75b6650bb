import type { ShadowView } from '../../api/views/shadow-views.js';
import { decimal, wholeNumber } from '../../report/text/format-number.js';
import { createStyle } from '../../report/text/style.js';
import type { Alignment } from '../../report/text/text-table.js';
import { timeSpan } from '../../report/text/time-span.js';
import { ApiClient } from '../api/api-client.js';
import { serverFlags } from '../api/server-flags.js';
import type { CommandLine } from '../flags/command-line.js';
import { choiceFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, listPresentation } from '../io.js';
import { shadowSummaryOf } from './shadow.js';
import { endpointFlags, shadowsOf } from './shadow-flags.js';

const listFlags = {
  output: { ...choiceFlag({ default: 'table', known: ['table', 'json', 'name'], help: 'output format' }), letter: 'o' },
  ...endpointFlags,
};

export const SHADOW_LIST: CommandLine = {
  name: 'shadow list',
  summary: shadowSummaryOf('list'),
  about:
    'A shadow decides about each request twice. By the real placements, where the policy that serves has placed all requests: AGREES, ' +
    'the share of decisions for the same replica or for one that the shadow scores the same, and TTFT CHANGE, the predicted ' +
    'difference where the two differ; below 0 the shadow is faster. By its own placements, as if it had placed all requests since ' +
    'it began, each as real -> own: KNOWN PREFIX, the share of prompt tokens that had been sent to the chosen replica before, and ' +
    'MEAN TTFT as predicted. DROPPED: decisions that the gateway had no time for, and their share; they are chosen at random, so that ' +
    'shares and means stay those of all requests. A shadow whose policy fails stops; the line below the table has the reason.',
  groups: [
    { title: 'Endpoint', flags: listFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['shadow list', 'shadow list --endpoint chat -o json'],
};

/** Lists the shadows of an endpoint by name. */
export async function listShadows(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof listFlags & typeof serverFlags>(SHADOW_LIST, argv);
  const { path, shown } = shadowsOf(values, io);
  const { items } = await ApiClient.of(values, io).list<ShadowView>(path);
  if (values.output === 'json') io.stdout.write(`${JSON.stringify(items, null, 2)}\n`);
  else if (values.output === 'name') io.stdout.write(items.map(({ name }) => `${name}\n`).join(''));
  else if (items.length === 0) {
    io.stderr.write(`twinyard: ${shown} has no shadow policies; add one with 'twinyard shadow add'\n`);
  } else {
    const alignments = TITLES.map((title): Alignment => (COUNTS.includes(title) ? 'right' : 'left'));
    io.stdout.write(`${shown}, policy ${items[0]!.serving_policy}\n`);
    for (const line of createStyle(listPresentation(io)).table([TITLES, ...items.map(rowOf)], alignments)) {
      io.stdout.write(`${line}\n`);
    }
    for (const line of items.flatMap(notesOf)) io.stdout.write(`${line}\n`);
  }
  return 0;
}

const COUNTS = ['DECISIONS', 'DROPPED', 'AGREES', 'TTFT CHANGE', 'KNOWN PREFIX', 'MEAN TTFT', 'AGE'];
const TITLES = ['NAME', 'POLICY', ...COUNTS, 'SOURCE'];

const decisionsOf = ({ on_real_placements: { classes } }: ShadowView) =>
  classes.reduce((sum, one) => sum + one.same + one.tied + one.different + one.forced, 0);

/** What an operator should know besides the row. */
function notesOf(shadow: ShadowView): string[] {
  const { dropped, name, source, stopped } = shadow;
  if (stopped !== null) {
    const again =
      source === 'added' ? `'twinyard shadow add' starts it again` : 'a change of its policy starts it again';
    return [`shadow ${name} stopped ${timeSpan(stopped.age_s)} ago: ${stopped.problem}; ${again}`];
  }
  if (dropped === 0 || decisionsOf(shadow) > 0) return [];
  return [`shadow ${name} has not decided yet: the gateway had no time for any of ${wholeNumber(dropped)} decisions`];
}

function rowOf(shadow: ShadowView): string[] {
  const { dropped, known_prefix: prefix, on_real_placements: real, predicted_ttft: ttft } = shadow;
  const change = ttft.mean_difference_ms;
  const decisions = decisionsOf(shadow);
  return [
    shadow.name,
    shadow.policy,
    wholeNumber(decisions),
    dropped === 0 ? '0' : `${wholeNumber(dropped)} (${decimal((100 * dropped) / (dropped + decisions), 0)} %)`,
    share(real.agreement),
    change === null ? '-' : `${change > 0 ? '+' : ''}${decimal(change, 1)} ms`,
    prefix === null ? '-' : `${share(prefix.real)} -> ${share(prefix.own)}`,
    ttft.real_mean_ms === null || ttft.own_mean_ms === null
      ? '-'
      : `${decimal(ttft.real_mean_ms, 1)} -> ${decimal(ttft.own_mean_ms, 1)} ms`,
    timeSpan(shadow.age_s),
    shadow.source,
  ];
}

const share = (value: number | null) => (value === null ? '-' : `${decimal(value * 100, 1)} %`);
