import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { conflictingFlags } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { file, toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { profilesSummaryOf } from '../profiles.js';
import { PROFILE_OPERANDS, profilePath, type ShownProfile } from './profile-api.js';

const pinFlags = {
  'latency-profile': file({
    placeholder: 'file',
    defaultText: 'the present profile',
    help: 'use the profile of this file',
  }),
  off: toggle({ help: 'unpin: fit the profile again from now on' }),
  ...workspaceFlags,
};

export const PROFILES_PIN: CommandLine = {
  name: 'profiles pin',
  summary: profilesSummaryOf('pin'),
  about:
    'A pinned profile is not fitted again and is used however far it is off; its errors and drift are still reported. Pins survive a ' +
    'restart of a gateway with a store. The change is in the audit log.',
  operands: PROFILE_OPERANDS,
  groups: [
    { title: 'Profile', flags: pinFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['profiles pin chat', 'profiles pin chat --latency-profile h100.json', 'profiles pin chat vllm --off'],
};

export async function profilesPin(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof pinFlags & typeof serverFlags>(PROFILES_PIN, argv);
  const given = values['latency-profile'];
  if (given !== null && values.off) {
    throw conflictingFlags('--off', 'is given together with --latency-profile', 'keep one of them');
  }
  const profile = given === null ? {} : { profile: await documentIn(given) };
  const client = ApiClient.of(values, io);
  const path = await profilePath(client, workspaceFor(values, io), operands);
  const body = JSON.stringify({ pinned: !values.off, ...profile });
  const { endpoint, engine, pinned, workspace } = await client.call<ShownProfile>('PUT', `${path}/pin`, { body });
  const effect = pinned ? 'pinned: it is not fitted again' : 'unpinned: it is fitted again';
  io.stdout.write(`the profile of ${workspace}/${endpoint}, engine ${engine}, is ${effect}\n`);
  return 0;
}

/** Read here, so that a mistake in the file is reported with its line. */
async function documentIn(path: string): Promise<object> {
  const [{ readProfile }, { profileDocument }] = await Promise.all([
    import('../../replica/latency/profile-file.js'),
    import('../../gateway/prediction/profile-document.js'),
  ]);
  return profileDocument(readProfile(path));
}
