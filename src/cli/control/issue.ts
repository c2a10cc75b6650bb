import { ApiClient } from '../api/api-client.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import type { CommandLine } from '../flags/command-line.js';
import { choiceFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { calledKind, resourceAt } from './targets/called-resource.js';

const issueFlags = {
  ...workspaceFlags,
  output: { ...choiceFlag({ default: 'text', known: ['text', 'json'], help: 'output format' }), letter: 'o' },
};

export const ISSUE: CommandLine = {
  name: 'issue',
  summary: summaryOf('issue'),
  about:
    'Use it for an ApiKey that was created by apply. A second call issues another secret and ends the first one at once; ' +
    "'twinyard keys rotate' leaves it valid for a while.",
  operands: { usage: 'NAME', least: 1, most: 1 },
  groups: [
    { title: 'Key', flags: issueFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['issue web', 'issue web -o json'],
};

/** Issues the secret of an ApiKey and prints it, alone on its line. */
export async function issue(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof issueFlags & typeof serverFlags>(ISSUE, argv);
  const { path, shown } = resourceAt(await calledKind('ApiKey'), operands[0]!, workspaceFor(values, io));
  const client = ApiClient.of(values, io);
  const issued = await client.call<{ key: string; key_id: string }>('POST', `${path}/issue`);
  if (values.output === 'json') {
    io.stdout.write(`${JSON.stringify({ key_id: issued.key_id, key: issued.key }, null, 2)}\n`);
    return 0;
  }
  io.stderr.write(`twinyard: ${shown} has a new secret; store it now, it is not shown again\n`);
  io.stdout.write(`${issued.key}\n`);
  return 0;
}
