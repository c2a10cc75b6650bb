import { InputError } from '../../kernel/errors.js';
import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import type { CommandLine } from '../flags/command-line.js';
import { file } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { checkOutputs, writeOutputs } from '../output/output-files.js';
import { profilesSummaryOf } from '../profiles.js';
import { PROFILE_OPERANDS, profilePath, type ShownProfileFile } from './profile-api.js';

const exportFlags = {
  output: { ...file({ placeholder: 'file', defaultText: 'standard output', help: 'file to write' }), letter: 'o' },
  ...workspaceFlags,
};

export const PROFILES_EXPORT: CommandLine = {
  name: 'profiles export',
  summary: profilesSummaryOf('export'),
  about:
    "Writes the profile in the format that '--latency-profile' reads, with the settings of the engine: run, replay, compare, plan, " +
    'calibrate and whatif simulate that engine with it.',
  operands: PROFILE_OPERANDS,
  groups: [
    { title: 'Profile', flags: exportFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['profiles export chat --output chat.json', 'profiles export chat vllm@H100 > chat.json'],
};

export async function profilesExport(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof exportFlags & typeof serverFlags>(PROFILES_EXPORT, argv);
  const { output } = values;
  if (output !== null) checkOutputs([{ flag: '--output', path: output }], []);
  const client = ApiClient.of(values, io);
  const shown = await client.call<ShownProfileFile>(
    'GET',
    await profilePath(client, workspaceFor(values, io), operands),
  );
  if (shown.profile === null) {
    const place = `endpoint ${shown.workspace}/${shown.endpoint}, engine ${shown.engine}`;
    throw new InputError('PROFILE_MISSING', place, `has no profile yet: ${shown.problem}`, 'try again later');
  }
  const [{ readProfileDocument }, { profileText }] = await Promise.all([
    import('../../gateway/prediction/profile-document.js'),
    import('../../replica/latency/profile-file.js'),
  ]);
  const text = profileText(readProfileDocument(shown.profile, 'the profile of the gateway'));
  if (output === null) io.stdout.write(text);
  else await writeOutputs([{ flag: '--output', path: output, pieces: () => [text] }], io);
  return 0;
}
