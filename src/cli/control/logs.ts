import { ApiClient } from '../api/api-client.js';
import { serverLeft } from '../api/errors.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import type { CommandLine } from '../flags/command-line.js';
import { count, stringFlag, toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';
import { calledEndpoint } from './targets/called-resource.js';
import { untilStopped } from './targets/until-stopped.js';

const logsFlags = {
  replica: stringFlag({ default: null, placeholder: 'id', defaultText: 'all', help: 'only the logs of this replica' }),
  lines: count({ default: 100, max: 10_000, help: 'number of last lines of each replica' }),
  follow: { ...toggle({ help: 'print new lines until interrupted' }), letter: 'f' },
  ...workspaceFlags,
};

export const LOGS: CommandLine = {
  name: 'logs',
  summary: summaryOf('logs'),
  about:
    'Each line starts with the id of its replica, unless --replica chooses one. --follow prints new lines as well, also of replicas ' +
    'that start later.',
  operands: { usage: 'endpoint/NAME', least: 1, most: 2 },
  groups: [
    { title: 'Endpoint', flags: logsFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['logs endpoint chat', 'logs endpoint chat --lines 5', 'logs endpoint chat --follow'],
};

/** Prints the logs of the replicas of an endpoint; without `--replica`, each line with its replica. */
export async function logs(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof logsFlags & typeof serverFlags>(LOGS, argv);
  const { path } = await calledEndpoint(operands, workspaceFor(values, io), LOGS);
  const client = ApiClient.of(values, io);
  const { follow, lines, replica: only } = values;
  const signal = follow ? untilStopped(io) : new AbortController().signal;
  const query = { replica: only, lines: String(lines), follow: String(follow) };
  for await (const { data, event } of client.events(`${path}/logs`, query, signal)) {
    if (event === 'end') return 0;
    const { line, replica } = JSON.parse(data) as { replica: string; line: string };
    io.stdout.write(`${only === null ? `[${replica}] ` : ''}${printable(line)}\n`);
  }
  if (signal.aborted) return 0;
  throw serverLeft(client.url);
}

/** Without control characters: the output of engines must not control the terminal. */
function printable(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return line.replace(/\x1b\[[0-9;]*[A-Za-z]/g, '').replace(/(?!\t)\p{Cc}/gu, '?');
}
