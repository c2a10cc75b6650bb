import type { ChangeFeed, FeedFilter } from '../../control/change-feed.js';
import { resourceView } from '../../control/store/resource-view.js';
import { knownNames } from '../../kernel/text/nearest-name.js';
import { field, text } from '../../schema/fields.js';
import type { ResourceEvent, ResourceEvents } from '../../store/resources/resource-events.js';
import type { Resources } from '../../store/resources/resources.js';
import { authorise } from '../access/authorise.js';
import { type Caller, workspacesWith } from '../access/caller.js';
import type { ApiHost, ServedGateway } from '../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute } from '../api-route.js';
import { badQuery } from '../errors.js';
import { eventStream, type Position, readPosition, type StreamItem } from '../streams/event-stream.js';
import { eventView } from '../streams/event-view.js';
import { followEvents } from '../streams/follow-events.js';
import { followGateway, followReplicas, followTraffic } from '../streams/follow-gateway.js';
import { sharedLooks } from '../streams/shared-looks.js';
import { FILTER_QUERY, filterOf } from './filter.js';
import { trafficFor } from './traffic/traffic-routes.js';

const TOPICS = ['resources', 'events', 'replicas', 'traffic', 'gateway'] as const;
type Topic = (typeof TOPICS)[number];

const WATCH_QUERY = {
  ...FILTER_QUERY,
  topics: field(text(), {
    default: 'resources',
    help: `what to report, separated by commas: ${TOPICS.join(', ')}`,
  }),
  since: field(text(40), {
    help: 'continue after this resource_version, or after the id of an event; Last-Event-ID does the same',
  }),
};

/** The one stream of everything that changes. */
export const WATCH_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/watch',
    role: 'viewer',
    scope: 'each',
    summary: 'Stream changes as they happen: of resources, their events, replicas, traffic and the gateway',
    query: WATCH_QUERY,
    response: { type: 'stream' },
    handle: watch,
  }),
];

interface WatchQuery {
  readonly kind?: string | undefined;
  readonly workspace?: string | undefined;
  readonly name?: string | undefined;
  readonly topics: string;
  readonly since?: string | undefined;
}

async function watch(host: ApiHost, request: ApiRequest<WatchQuery, undefined>) {
  const { caller, query } = request;
  const topics = topicsIn(query.topics);
  const filter = filterOf(caller, query);
  if (topics.has('gateway')) authorise(caller, { role: 'viewer', scope: 'global' }, '');
  const since = positionIn(query.since, request.header('last-event-id'));
  const left = new AbortController();
  const signal = AbortSignal.any([request.signal, left.signal]);
  const position: Position = { version: since?.version ?? 0, event: since?.event ?? 0 };
  const sources: AsyncIterable<StreamItem>[] = [];
  if (topics.has('resources')) {
    const { feed } = await host.control();
    if (since === null) position.version = feed.version;
    sources.push(resourceItems(feed, position.version, filter, signal));
  }
  if (topics.has('events')) {
    const { events, resources } = await host.resources();
    if (since?.event === undefined) position.event = (await events.list({ limit: 1 }))[0]?.id ?? 0;
    const isOwn = await notOfFormer(resources, filter);
    sources.push(eventItems(events, position.event, filter, isOwn, signal));
  }
  if (topics.has('replicas')) sources.push(replicaItems(host.gateway, filter, signal));
  if (topics.has('traffic')) sources.push(trafficItems(host.gateway, caller, query, signal));
  if (topics.has('gateway')) sources.push(gatewayItems(host.gateway, signal));
  return { status: 200 as const, stream: untilLeft(eventStream(sources, position), left) };
}

/** The signal ends a source that waits for its next item after the client has disconnected. */
async function* untilLeft(stream: AsyncIterable<string>, left: AbortController): AsyncGenerator<string> {
  try {
    yield* stream;
  } finally {
    left.abort();
  }
}

function topicsIn(given: string): ReadonlySet<Topic> {
  const names = given.split(',');
  for (const name of names) {
    if (!(TOPICS as readonly string[]).includes(name))
      throw badQuery('topics', `'${name}' is no topic`, knownNames(name, TOPICS));
  }
  return new Set(names as Topic[]);
}

function positionIn(since: string | undefined, lastEventId: string | undefined): Partial<Position> | null {
  const given = since ?? lastEventId;
  if (given === undefined) return null;
  const position = readPosition(given);
  if (position !== null) return position;
  throw badQuery('since', 'is not a position in the stream', "give a list's resource_version, or the id of an event");
}

/** After `reset` the client lists again: what happened since its version is no longer known here. */
async function* resourceItems(
  feed: ChangeFeed,
  since: number,
  filter: FeedFilter,
  signal: AbortSignal,
): AsyncGenerator<StreamItem> {
  for await (const item of feed.follow(since, filter, signal)) {
    const position = { version: item.version };
    if (item.type === 'change') {
      const { record, type } = item.change;
      yield { event: 'resource', data: { type, version: item.version, resource: resourceView(record) }, position };
    } else yield { event: item.type === 'gone' ? 'reset' : 'bookmark', data: { version: item.version }, position };
  }
}

async function* eventItems(
  events: ResourceEvents,
  since: number,
  filter: FeedFilter,
  isOwn: (event: ResourceEvent) => boolean,
  signal: AbortSignal,
): AsyncGenerator<StreamItem> {
  for await (const event of followEvents(events, since, filter, signal)) {
    if (isOwn(event)) yield { event: 'event', data: eventView(event), position: { event: event.id } };
  }
}

/** Of the resource that has the name now, and of those that get it later. */
async function notOfFormer(resources: Resources, { kind, name, workspace }: FeedFilter) {
  if (kind === undefined || name === undefined || workspace === undefined) return () => true;
  const present = await resources.get({ kind, workspace, name });
  return ({ lastAt, uid }: ResourceEvent) => present === null || uid === present.uid || lastAt >= present.createdAt;
}

async function* replicaItems(
  gateway: ServedGateway,
  filter: FeedFilter,
  signal: AbortSignal,
): AsyncGenerator<StreamItem> {
  const isWanted = ({ endpoint, workspace }: { endpoint: string; workspace: string }) =>
    (filter.workspace === undefined || filter.workspace === workspace) &&
    (filter.workspaces?.includes(workspace) ?? true) &&
    (filter.name === undefined || filter.name === endpoint);
  for await (const change of followReplicas(gateway, isWanted, signal)) yield { event: 'replica', data: change };
}

async function* trafficItems(
  gateway: ServedGateway,
  caller: Caller,
  { name, workspace }: WatchQuery,
  signal: AbortSignal,
): AsyncGenerator<StreamItem> {
  // Callers of the same workspaces see the same.
  const scope = JSON.stringify([workspacesWith(caller, 'viewer'), workspace, name]);
  const read = () =>
    sharedLooks(gateway).of(`traffic of ${scope}`, () => trafficFor(gateway, caller, { endpoint: name, workspace }));
  for await (const data of followTraffic(read, signal)) yield { event: 'traffic', data };
}

async function* gatewayItems(gateway: ServedGateway, signal: AbortSignal): AsyncGenerator<StreamItem> {
  for await (const change of followGateway(gateway, signal)) yield { event: 'gateway', data: change };
}
