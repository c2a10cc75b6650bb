import { ResourceConflict, unknownResource } from '../../store/resources/resource-errors.js';
import type { ResourceRef } from '../../store/resources/resource-record.js';
import { checkedResource } from '../resources/check-resource.js';
import { invalidField, unknownField } from '../resources/errors.js';
import { endpoint } from '../resources/kinds/endpoint.js';
import type { Resource } from '../resources/resource.js';
import type { ReplicaHandle } from '../runner/contract.js';
import { type ControlHost, type ControlRequest, type ControlRoute, ok } from './control-route.js';
import { endpointLogs, type LogLine } from './endpoint-logs.js';
import { unknownReplica } from './errors.js';
import { boundedNumber, yesOrNo } from './query.js';
import { jsonObject, versionOf } from './request-parts.js';

const MOST_LINES = 10_000;
const ONE = `/api/v1/workspaces/{workspace}/${endpoint.plural}/{name}`;

/** What can be done with endpoints and with no other kind. */
export const ENDPOINT_ROUTES: readonly ControlRoute[] = [
  {
    method: 'PUT',
    path: `${ONE}/scale`,
    role: 'operator',
    scope: 'workspace',
    kind: endpoint,
    summary: 'Gives an Endpoint another number of replicas, and changes nothing else',
    takes: 'scale',
    gives: 'resource',
    handle: scale,
  },
  {
    method: 'GET',
    path: `${ONE}/logs`,
    // Engines may write down what they are asked, and with what they were started.
    role: 'operator',
    scope: 'workspace',
    kind: endpoint,
    summary: 'Tells what the replicas of an Endpoint have written',
    gives: 'stream',
    query: {
      replica: 'of this one only',
      lines: `the last so many of each: 0 to ${MOST_LINES}, else 100`,
      follow: "'true' goes on with what they write from now on",
    },
    handle: logs,
  },
];

const refOf = ({ params }: ControlRequest): ResourceRef => ({
  kind: endpoint.kind,
  workspace: params.workspace!,
  name: params.name!,
});

async function present({ store }: ControlHost, ref: ResourceRef): Promise<Resource> {
  const resource = await store.get(ref);
  if (resource === null) throw unknownResource(ref);
  return resource;
}

async function scale(host: ControlHost, request: ControlRequest) {
  const replicas = replicasIn(request.body);
  const ref = refOf(request);
  const placeOf = (path: string) => `body (${path.replace(/^spec\./, '')})`;
  const asked = versionOf(request.ifMatch);
  for (;;) {
    const before = await present(host, ref);
    // Secrets stand as stars in it, which mean: as they are.
    const resource = checkedResource({ ...before, spec: { ...before.spec, replicas } }, placeOf);
    const expected = asked ?? before.metadata.resource_version!;
    try {
      const [applied] = await host.store.apply(request.caller.name, [{ resource, placeOf, expected }]);
      return ok(applied!.resource);
    } catch (error) {
      // Somebody was faster; what is asked for here is meant for whatever there is.
      if (!(error instanceof ResourceConflict) || asked !== undefined || error.current === null) throw error;
    }
  }
}

function replicasIn(body: string): unknown {
  const { replicas, ...others } = jsonObject(body, 'give {"replicas": 3}');
  const [other] = Object.keys(others);
  if (other !== undefined) throw unknownField(`body (${other})`, other, ['replicas']);
  if (replicas === undefined) throw invalidField('body (replicas)', 'is missing', 'say how many there should be');
  return replicas;
}

async function logs(host: ControlHost, request: ControlRequest) {
  const { query, signal } = request;
  const ref = refOf(request);
  await present(host, ref);
  const wanted = {
    replica: query.get('replica'),
    lines: boundedNumber(query, 'lines', 100, 0, MOST_LINES),
    follow: yesOrNo(query, 'follow'),
    signal,
    goesOn: async () => {
      const now = await host.store.get(ref);
      return now !== null && now.metadata.deleted_at === undefined;
    },
  };
  const isOurs = (one: ReplicaHandle) => one.workspace === ref.workspace && one.endpoint === ref.name;
  const all = (await host.runner.list()).filter(isOurs);
  const replicas = wanted.replica === null ? all : all.filter(({ id }) => id === wanted.replica);
  if (wanted.replica !== null && replicas.length === 0) {
    throw unknownReplica(
      wanted.replica,
      all.map(({ id }) => id),
    );
  }
  return { status: 200 as const, stream: lineStream(endpointLogs(host.runner, replicas, isOurs, wanted)) };
}

/** Server-sent events; the last, `end`, tells what is over from what broke off. */
async function* lineStream(lines: AsyncIterable<LogLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `event: line\ndata: ${JSON.stringify(line)}\n\n`;
  yield 'event: end\ndata: {}\n\n';
}
