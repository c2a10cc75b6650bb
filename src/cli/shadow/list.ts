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
    'AGREES: share of decisions for the same replica, or for one that the shadow scores the same, where all requests are placed by ' +
    'the policy that serves. KNOWN PREFIX: share of prompt tokens that had been sent to the chosen replica before, by the real ' +
    'placements, and by those of the shadow as if it had placed all requests. TTFT: predicted difference where they differ; below ' +
    '0 the shadow is faster.',
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
    const titles = ['NAME', 'POLICY', 'AGREES', 'DECISIONS', 'DROPPED', 'KNOWN PREFIX', 'TTFT', 'AGE', 'SOURCE'];
    const left = new Set(['NAME', 'POLICY', 'SOURCE']);
    const alignments = titles.map((title): Alignment => (left.has(title) ? 'left' : 'right'));
    io.stdout.write(`${shown}, policy ${items[0]!.serving_policy}\n`);
    for (const line of createStyle(listPresentation(io)).table([titles, ...items.map(rowOf)], alignments)) {
      io.stdout.write(`${line}\n`);
    }
  }
  return 0;
}

function rowOf(shadow: ShadowView): string[] {
  const { known_prefix: prefix, on_real_placements: real, predicted_ttft: ttft } = shadow;
  const decisions = real.classes.reduce((sum, one) => sum + one.same + one.tied + one.different + one.forced, 0);
  return [
    shadow.name,
    shadow.policy,
    share(real.agreement),
    wholeNumber(decisions),
    wholeNumber(shadow.dropped),
    prefix === null ? '-' : `${share(prefix.real)} -> ${share(prefix.own)}`,
    ttft.mean_difference_ms === null
      ? '-'
      : `${ttft.mean_difference_ms > 0 ? '+' : ''}${decimal(ttft.mean_difference_ms, 1)} ms`,
    timeSpan(shadow.age_s),
    shadow.source,
  ];
}

const share = (value: number | null) => (value === null ? '-' : `${decimal(value * 100, 1)} %`);
