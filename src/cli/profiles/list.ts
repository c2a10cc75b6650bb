import { createStyle } from '../../report/text/style.js';
import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { allWorkspacesFlags, serverFlags, workspaceFlags } from '../api/server-flags.js';
import { ageText } from '../control/print/time-text.js';
import type { CommandLine } from '../flags/command-line.js';
import { choiceFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { type CliIo, listPresentation } from '../io.js';
import { profilesSummaryOf } from '../profiles.js';
import { errorShare, type ShownProfile } from './profile-api.js';

const listFlags = {
  output: { ...choiceFlag({ default: 'table', known: ['table', 'json'], help: 'output format' }), letter: 'o' },
  ...workspaceFlags,
  ...allWorkspacesFlags,
};

export const PROFILES_LIST: CommandLine = {
  name: 'profiles list',
  summary: profilesSummaryOf('list'),
  about:
    'A running gateway fits a latency profile to the requests of each endpoint and engine, in the background. TTFT, ITL and E2E are ' +
    'how far the profile was off on requests newer than those it was fitted to. A profile that is too far off is not used.',
  groups: [
    { title: 'Profiles', flags: listFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['profiles list', 'profiles list --output json'],
};

const TITLES = ['ENDPOINT', 'ENGINE', 'SOURCE', 'PINNED', 'AGE', 'TTFT', 'ITL', 'E2E', 'STATE'];

export async function profilesList(argv: readonly string[], io: CliIo): Promise<number> {
  const { values } = await parseFlags<typeof listFlags & typeof serverFlags>(PROFILES_LIST, argv);
  const isEverywhere = values['all-workspaces'];
  const query = { workspace: isEverywhere ? null : workspaceFor(values, io) };
  const { items } = await ApiClient.of(values, io).list<ShownProfile>('/api/v1/profiles', { query });
  if (values.output === 'json') {
    io.stdout.write(`${JSON.stringify(items, null, 2)}\n`);
    return 0;
  }
  if (items.length === 0) {
    io.stderr.write('twinyard: no endpoint has a replica with an engine\n');
    return 0;
  }
  const titles = isEverywhere ? ['WORKSPACE', ...TITLES] : TITLES;
  const rows = items.map((one) => [...(isEverywhere ? [one.workspace] : []), ...cells(one, io.now())]);
  const lines = createStyle(listPresentation(io)).table(
    [titles, ...rows],
    titles.map(() => 'left' as const),
  );
  for (const line of lines) io.stdout.write(`${line}\n`);
  return 0;
}

function cells(
  { age_s, drift, endpoint, engine, pinned, problem, score, source }: ShownProfile,
  now: number,
): string[] {
  const age = age_s === null ? '-' : ageText(new Date(now - 1000 * age_s).toISOString(), now);
  const state = drift === null ? (problem === '' ? 'used' : problem) : `drift: ${drift.reason}`;
  return [
    ...[endpoint, engine, source ?? '-', pinned ? 'yes' : 'no', age],
    ...[errorShare(score?.ttft), errorShare(score?.itl), errorShare(score?.e2e), state],
  ];
}
