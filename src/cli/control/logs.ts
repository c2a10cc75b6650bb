import { ApiClient } from '../api/api-client.js';
import { serverLeft } from '../api/errors.js';
import { workspaceFor } from '../api/find-server.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { summaryOf } from '../commands.js';
import { conflictingFlags } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import type { FlagValues } from '../flags/flag.js';
import { count, listFlag, stringFlag, toggle } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import { readDuration } from '../flags/read-list.js';
import type { CliIo } from '../io.js';
import { calledEndpoint } from './targets/called-resource.js';
import { resumedEvents } from './targets/resumed-events.js';
import { untilStopped } from './targets/until-stopped.js';

const logsFlags = {
  replica: stringFlag({ default: null, placeholder: 'id', defaultText: 'all', help: 'only the logs of this replica' }),
  tail: count({
    ...{ default: null, min: -1, max: 10_000, defaultText: '100, with --since all' },
    help: 'number of last lines of each replica; -1 for all',
  }),
  since: listFlag<number | null>({
    ...{ default: null, placeholder: 'duration', accepted: "a duration with its unit, as in '90s' or '10m'" },
    ...{ read: readDuration, help: 'only lines of the last so long, to within a second' },
  }),
  follow: { ...toggle({ help: 'print new lines until interrupted' }), letter: 'f' },
  previous: { ...toggle({ help: 'the log of the replica that ended last' }), letter: 'p' },
  ...workspaceFlags,
};

type LogsFlags = typeof logsFlags & typeof serverFlags;

export const LOGS: CommandLine = {
  name: 'logs',
  summary: summaryOf('logs'),
  about:
    'Each line starts with the id of its replica, unless --replica chooses one. --follow prints new lines as well, also of replicas ' +
    'that start later, and continues after a restart of the server, without a line twice. --previous prints the log of a replica ' +
    'that has crashed or was replaced, the last one of the endpoint that ended.',
  operands: { usage: 'endpoint/NAME', least: 1, most: 2 },
  groups: [
    { title: 'Endpoint', flags: logsFlags },
    { title: 'Server', flags: serverFlags },
  ],
  examples: ['logs ep/chat', 'logs ep/chat --tail 5', 'logs ep/chat --since 10m', 'logs ep/chat -f', 'logs ep/chat -p'],
};

/** Prints the logs of the replicas of an endpoint; without `--replica`, each line with its replica. */
export async function logs(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<LogsFlags>(LOGS, argv);
  if (values.previous && values.since !== null) {
    const hint = 'keep one of them: lines of a replica that ended have no times';
    throw conflictingFlags('--since', 'is given together with --previous', hint);
  }
  const { path } = await calledEndpoint(operands, workspaceFor(values, io), LOGS);
  const client = ApiClient.of(values, io);
  const isFollowed = values.follow && !values.previous;
  const print = (data: string): LineView => {
    const line = JSON.parse(data) as LineView;
    io.stdout.write(`${values.replica === null ? `[${line.replica}] ` : ''}${printable(line.line)}\n`);
    return line;
  };
  if (isFollowed) return follow(client, `${path}/logs`, values, print, io);
  for await (const { data, event } of client.events(`${path}/logs`, queryOf(values), new AbortController().signal)) {
    if (event === 'end') return 0;
    print(data);
  }
  throw serverLeft(client.url);
}

interface LineView {
  readonly replica: string;
  readonly line: string;
  readonly position?: string;
}

type LogQuery = Readonly<Record<string, string | null>>;

/** The longest list of positions that is sent: URLs are limited. */
const MOST_POSITIONS = 7000;

/** Follows logs over restarts of the server: each replica from its last line, replicas without a line from the beginning of this. */
async function follow(
  client: ApiClient,
  path: string,
  values: FlagValues<LogsFlags>['values'],
  print: (data: string) => LineView,
  io: CliIo,
): Promise<number> {
  const positions = new Map<string, string>();
  const begun = Date.now();
  const query = (isFirst: boolean): LogQuery => {
    if (isFirst) return queryOf(values);
    const { replica } = values;
    const since = `${Math.ceil((Date.now() - begun) / 1000)}s`;
    return { replica, since, follow: 'true', after: positionText(positions) };
  };
  for await (const { data, event } of resumedEvents(client, path, query, untilStopped(io), io)) {
    if (event === 'end') return 0;
    const { position, replica } = print(data);
    // The latest last.
    positions.delete(replica);
    if (position !== undefined) positions.set(replica, position);
  }
  return 0;
}

/** Null without any. Of very many replicas, those that wrote last. */
function positionText(positions: ReadonlyMap<string, string>): string | null {
  let text = '';
  for (const [replica, position] of [...positions].reverse()) {
    const next = `${text === '' ? '' : `${text},`}${replica}=${position}`;
    if (next.length > MOST_POSITIONS) break;
    text = next;
  }
  return text === '' ? null : text;
}

function queryOf({ follow, previous, replica, since, tail }: FlagValues<LogsFlags>['values']): LogQuery {
  return {
    replica,
    tail: tail === null ? null : String(tail),
    since: since === null ? null : `${since}us`,
    ...(follow && !previous ? { follow: 'true' } : {}),
    ...(previous ? { previous: 'true' } : {}),
  };
}

/** Without control characters: the output of engines must not control the terminal. */
function printable(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return line.replace(/\x1b\[[0-9;]*[A-Za-z]/g, '').replace(/(?!\t)\p{Cc}/gu, '?');
}
