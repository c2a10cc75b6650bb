import { endpoint } from '../../control/resources/kinds/endpoint.js';
import type { LogOptions, ReplicaHandle } from '../../control/runner/contract.js';
import { parseDuration } from '../../kernel/text/duration.js';
import { field, flag, text, whole } from '../../schema/fields.js';
import { unknownResource } from '../../store/resources/resource-errors.js';
import type { ApiHost } from '../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute } from '../api-route.js';
import { badQuery, noPreviousLog, unknownReplica } from '../errors.js';
import { endpointLogs, type LogLine } from '../streams/endpoint-logs.js';

const MOST_LINES = 10_000;
const DEFAULT_LINES = 100;
/** The id of a replica and a place in its log. */
const POSITION = /^([a-z0-9-]{1,63})=([\w.:+-]{1,64})$/;

const LOG_QUERY = {
  replica: field(text(), { help: 'only of this replica' }),
  tail: field(whole(-1, MOST_LINES), {
    help: 'how many of the last lines of each replica, -1 for all; 100 by default, with since all',
  }),
  since: field(text(40), { help: "only lines of the last so long, such as '10m', to within a second" }),
  follow: field(flag, { default: false, help: 'continue with lines as they are written' }),
  previous: field(flag, { default: false, help: 'the log of the replica that ended last instead' }),
  after: field(text(8192), {
    help: "continue behind positions of earlier lines, as in 'chat-a=120,chat-b=88', in place of tail and since",
  }),
};

interface LogQuery {
  readonly replica?: string | undefined;
  readonly tail?: number | undefined;
  readonly since?: string | undefined;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly after?: string | undefined;
}

export const LOG_ROUTE: ApiRoute = defineRoute({
  method: 'GET',
  path: `/api/v1/workspaces/{workspace}/${endpoint.plural}/{name}/logs`,
  // Engines may log prompts and the arguments that they were started with.
  role: 'operator',
  scope: 'workspace',
  kind: endpoint,
  summary: 'Stream what the replicas of an Endpoint have written',
  query: LOG_QUERY,
  response: { type: 'stream' },
  handle: logs,
});

async function logs(host: ApiHost, { params, query, signal }: ApiRequest<LogQuery, undefined>) {
  const { runner, store } = await host.control();
  const ref = { kind: endpoint.kind, workspace: params.workspace!, name: params.name! };
  if ((await store.get(ref)) === null) throw unknownResource(ref);
  const lines = linesIn(query);
  const after = positionsIn(query.after);
  const only = query.replica ?? null;
  if (query.previous) return { status: 200 as const, stream: lineStream(await previous(host, ref, query)) };
  const isOurs = (one: ReplicaHandle) => one.workspace === ref.workspace && one.endpoint === ref.name;
  const all = (await runner.list()).filter(isOurs);
  const replicas = only === null ? all : all.filter(({ id }) => id === only);
  if (only !== null && replicas.length === 0) throw unknownReplica('?replica', only, idsOf(all));
  const goesOn = async () => {
    // The log of a replica also ends with the control plane; its process does not.
    if (only !== null) return (await runner.list()).some(({ exit, id }) => id === only && exit === null);
    const now = await store.get(ref);
    return now !== null && now.metadata.deleted_at === undefined;
  };
  const wanted = { replica: only, lines, after, follow: query.follow, signal, goesOn };
  return { status: 200 as const, stream: lineStream(endpointLogs(runner, replicas, isOurs, wanted)) };
}

async function previous(host: ApiHost, ref: { workspace: string; name: string }, query: LogQuery) {
  const { after, replica: only, since, tail = DEFAULT_LINES } = query;
  for (const [name, given] of Object.entries({ since, after })) {
    if (given === undefined) continue;
    throw badQuery(
      name,
      'is given together with previous',
      'leave one out: lines of a replica that ended have no times',
    );
  }
  const { runner } = await host.control();
  const count = tail === -1 ? Number.POSITIVE_INFINITY : tail;
  const log = await runner.previousLog({ workspace: ref.workspace, endpoint: ref.name }, count);
  if (log === null) throw noPreviousLog();
  if (only !== undefined && only !== log.replica) throw unknownReplica('?replica', only, [log.replica]);
  return linesOf(log.replica, log.lines);
}

async function* linesOf(replica: string, lines: AsyncIterable<string>): AsyncGenerator<LogLine> {
  for await (const line of lines) yield { replica, line };
}

function linesIn({ since, tail }: LogQuery): Pick<LogOptions, 'since' | 'tail'> {
  const us = since === undefined ? null : parseDuration(since);
  if (since !== undefined && us === null)
    throw badQuery('since', 'is not a duration', "give one such as '90s' or '10m'");
  const from = us === null ? null : Date.now() - us / 1000;
  if (tail === undefined || tail === -1) return from === null && tail === undefined ? {} : { since: from ?? 0 };
  return from === null ? { tail } : { tail, since: from };
}

function positionsIn(given: string | undefined): Map<string, string> {
  const positions = new Map<string, string>();
  for (const one of given?.split(',') ?? []) {
    const [, replica, position] = POSITION.exec(one) ?? [];
    if (position === undefined) throw badQuery('after', 'is not a list of positions', "give 'REPLICA=POSITION,...'");
    positions.set(replica!, position);
  }
  return positions;
}

const idsOf = (replicas: readonly ReplicaHandle[]) => replicas.map(({ id }) => id);

/** Server-sent events; the last one, `end`, marks a complete stream. */
async function* lineStream(lines: AsyncIterable<LogLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `event: line\ndata: ${JSON.stringify(line)}\n\n`;
  yield 'event: end\ndata: {}\n\n';
}
