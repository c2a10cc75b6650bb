import { checkedResource } from '../../control/resources/check-resource.js';
import { endpoint } from '../../control/resources/kinds/endpoint.js';
import type { ReplicaHandle } from '../../control/runner/contract.js';
import { field, flag, required, section, text, whole } from '../../schema/fields.js';
import { ResourceConflict, unknownResource } from '../../store/resources/resource-errors.js';
import type { ResourceRef } from '../../store/resources/resource-record.js';
import { isAdminEverywhere } from '../access/caller.js';
import type { ApiHost } from '../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../api-route.js';
import { refuseFileEndpoint } from '../changes/file-endpoints.js';
import { unknownReplica } from '../errors.js';
import { versionOf } from '../request-parts.js';
import { endpointLogs, type LogLine } from '../streams/endpoint-logs.js';

const MOST_LINES = 10_000;
const ONE = `/api/v1/workspaces/{workspace}/${endpoint.plural}/{name}`;

const SCALE = section('Scale', { replicas: required(whole(0, 1000), { help: 'how many; 0 pauses the endpoint' }) });

const LOG_QUERY = {
  replica: field(text(), { help: 'only of this replica' }),
  lines: field(whole(0, MOST_LINES), { default: 100, help: 'how many of the last lines of each replica' }),
  follow: field(flag, { default: false, help: 'continue with lines as they are written' }),
};

/** Operations of Endpoint resources that other kinds do not have. */
export const ENDPOINT_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'PUT',
    path: `${ONE}/scale`,
    role: 'operator',
    scope: 'workspace',
    kind: endpoint,
    summary: 'Change the number of replicas of an Endpoint and nothing else',
    body: { type: 'json', schema: SCALE, example: { replicas: 3 } },
    response: { type: 'resource' },
    handle: scale,
  }),
  defineRoute({
    method: 'GET',
    path: `${ONE}/logs`,
    // Engines may log prompts and the arguments that they were started with.
    role: 'operator',
    scope: 'workspace',
    kind: endpoint,
    summary: 'Stream what the replicas of an Endpoint have written',
    query: LOG_QUERY,
    response: { type: 'stream' },
    handle: logs,
  }),
];

const refOf = ({ params }: Pick<ApiRequest, 'params'>): ResourceRef => ({
  kind: endpoint.kind,
  workspace: params.workspace!,
  name: params.name!,
});

async function scale(host: ApiHost, request: ApiRequest<object, { replicas: number }>) {
  const ref = refOf(request);
  refuseFileEndpoint(host, ref);
  const { store } = await host.control();
  const placeOf = (path: string) => `body (${path.replace(/^spec\./, '')})`;
  const asked = versionOf(request.header('if-match'));
  for (;;) {
    const before = await store.get(ref);
    if (before === null) throw unknownResource(ref);
    // Secrets are shown as stars; written back, those mean: unchanged.
    const resource = checkedResource({ ...before, spec: { ...before.spec, ...request.body } }, placeOf);
    const expected = asked ?? before.metadata.resource_version!;
    try {
      const [applied] = await store.apply(request.caller.name, [{ resource, placeOf, expected }], {
        isAdmin: isAdminEverywhere(request.caller),
      });
      return ok(applied!.resource);
    } catch (error) {
      // Another change came first; without a version this one is meant for whatever there is.
      if (!(error instanceof ResourceConflict) || asked !== undefined || error.current === null) throw error;
    }
  }
}

async function logs(
  host: ApiHost,
  request: ApiRequest<{ replica?: string | undefined; lines: number; follow: boolean }, never>,
) {
  const { query, signal } = request;
  const { runner, store } = await host.control();
  const ref = refOf(request);
  if ((await store.get(ref)) === null) throw unknownResource(ref);
  const wanted = {
    ...{ replica: query.replica ?? null, lines: query.lines, follow: query.follow, signal },
    goesOn: async () => {
      const now = await store.get(ref);
      return now !== null && now.metadata.deleted_at === undefined;
    },
  };
  const isOurs = (one: ReplicaHandle) => one.workspace === ref.workspace && one.endpoint === ref.name;
  const all = (await runner.list()).filter(isOurs);
  const replicas = wanted.replica === null ? all : all.filter(({ id }) => id === wanted.replica);
  if (wanted.replica !== null && replicas.length === 0) {
    throw unknownReplica(
      '?replica',
      wanted.replica,
      all.map(({ id }) => id),
    );
  }
  return { status: 200 as const, stream: lineStream(endpointLogs(runner, replicas, isOurs, wanted)) };
}

/** Server-sent events; the last one, `end`, marks a complete stream. */
async function* lineStream(lines: AsyncIterable<LogLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `event: line\ndata: ${JSON.stringify(line)}\n\n`;
  yield 'event: end\ndata: {}\n\n';
}
