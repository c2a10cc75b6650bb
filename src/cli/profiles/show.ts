import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import type { CommandLine } from '../flags/command-line.js';
import { choiceFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { profilesSummaryOf } from '../profiles.js';
import { errorShare, PROFILE_OPERANDS, profilePath, type ShownProfileFile } from './profile-api.js';

const showFlags = {
  output: { ...choiceFlag({ default: 'text', known: ['text', 'json'], help: 'output format' }), letter: 'o' },
  ...workspaceFlags,
};

export const PROFILES_SHOW: CommandLine = {
  name: 'profiles show',
  summary: profilesSummaryOf('show'),
  about:
    'Prints its score on newer requests, the errors of predictions for the latest requests, what the fit assumes, and why it is not ' +
    'used where it is not. With --output json also the profile itself.',
  operands: PROFILE_OPERANDS,
  groups: [
    { title: 'Profile', flags: showFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['profiles show chat', 'profiles show chat vllm@H100 --output json'],
};

export async function profilesShow(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof showFlags & typeof serverFlags>(PROFILES_SHOW, argv);
  const client = ApiClient.of(values, io);
  const path = await profilePath(client, workspaceFor(values, io), operands);
  const shown = await client.call<ShownProfileFile>('GET', path);
  io.stdout.write(values.output === 'json' ? `${JSON.stringify(shown, null, 2)}\n` : `${page(shown).join('\n')}\n`);
  return 0;
}

function page({ assumes, drift, errors, profile, score, ...shown }: ShownProfileFile): string[] {
  const { age_s, endpoint, engine, pinned, problem, samples, source, workspace } = shown;
  const lines = [
    `endpoint:     ${workspace}/${endpoint}`,
    `engine:       ${engine}`,
    `profile:      ${profile === null ? 'none' : `${profile.model} on ${profile.hardware}, ${source}${pinned ? ', pinned' : ''}`}`,
    ...(age_s === null ? [] : [`age:          ${Math.round(age_s)} s`]),
    `used:         ${shown.used ? `yes${problem === '' ? '' : `, but ${problem}`}` : `no: ${problem}`}`,
    `collected:    ${samples} requests`,
  ];
  if (score !== null) {
    const { e2e, itl, requests, ttft } = score;
    lines.push(
      `score:        TTFT ${errorShare(ttft)}, ITL ${errorShare(itl)}, E2E ${errorShare(e2e)} off on ${requests} newer requests`,
    );
  }
  for (const [metric, stats] of Object.entries(errors)) {
    if (stats === null) continue;
    const { bias, count, p50, p90 } = stats;
    lines.push(
      `${`${metric.toUpperCase()} error:`.padEnd(13)} p50 ${errorShare(p50)}, p90 ${errorShare(p90)}, bias ${errorShare(bias)} of ${count} predictions`,
    );
  }
  if (drift !== null) lines.push(`drift:        ${drift.message}`);
  for (const one of assumes) lines.push(`assumes:      ${one}`);
  return lines.map((line) => line.replace(/\p{Cc}/gu, '?'));
}
