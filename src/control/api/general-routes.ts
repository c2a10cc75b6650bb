import { unknownResource } from '../../store/resources/resource-errors.js';
import type { ResourceEvent } from '../../store/resources/resource-events.js';
import type { Resources } from '../../store/resources/resources.js';
import { InvalidResources } from '../resources/errors.js';
import { KINDS, kindNamed } from '../resources/kinds.js';
import { planText } from '../resources/plan.js';
import { type Draft, type ReadDocuments, readDocuments } from '../resources/read-resources.js';
import { issueKey } from '../store/api-keys.js';
import type { ControlStore } from '../store/control-store.js';
import { resourceView } from '../store/resource-view.js';
import { authorise, authoriseChange } from './authorise.js';
import { type Caller, isEnough, roleIn } from './caller.js';
import type { FeedFilter, FeedItem } from './change-feed.js';
import { type ControlHost, type ControlRequest, type ControlRoute, ok } from './control-route.js';
import { followEvents } from './follow-events.js';
import { boundedNumber, eventView, yesOrNo } from './query.js';

const FILTER = {
  kind: 'by kind',
  workspace: 'by workspace; needed without a role in all of them',
  name: 'by name',
};

const FORMER = { former: "'true': with kind and name, also of those that had the name before" };

/** What can be asked that is not about one kind. */
export const GENERAL_ROUTES: readonly ControlRoute[] = [
  {
    method: 'GET',
    path: '/api/v1/kinds',
    role: 'viewer',
    scope: 'anywhere',
    summary: 'Lists the kinds of resources',
    gives: 'list',
    handle: async () =>
      ok({
        kind: 'KindList',
        items: KINDS.map(({ changedBy, kind, plural, scope, shortNames, summary }) => ({
          kind,
          plural,
          short_names: shortNames,
          scope,
          summary,
          changed_by: changedBy,
        })),
      }),
  },
  {
    method: 'POST',
    path: '/api/v1/apply',
    role: 'viewer',
    scope: 'each',
    summary: 'Makes all resources of a file so, all of them or none',
    takes: 'documents',
    gives: 'object',
    query: {
      dry_run: "'true' only tells what would be done",
      workspace: 'of resources that name none',
      file: 'what messages call the body',
    },
    handle: apply,
  },
  {
    method: 'GET',
    path: '/api/v1/watch',
    role: 'viewer',
    scope: 'each',
    summary: 'Tells of changes as they happen',
    gives: 'stream',
    query: { ...FILTER, since: 'a resource version; without it from now on' },
    handle: watch,
  },
  {
    method: 'GET',
    path: '/api/v1/events',
    role: 'viewer',
    scope: 'each',
    summary: 'Lists what happened to resources, the latest first',
    gives: 'list',
    query: { ...FILTER, ...FORMER, limit: '1 to 1000' },
    handle: async (host, request) => {
      const filter = filterOf(request);
      const limit = boundedNumber(request.query, 'limit', 100, 1, 1000);
      const uid = yesOrNo(request.query, 'former') ? null : await uidOf(host.store, filter);
      const events = await host.store.events.list({ ...filter, ...(uid === null ? {} : { uid }), limit });
      return ok({ kind: 'EventList', items: events.map(eventView) });
    },
  },
  {
    method: 'GET',
    path: '/api/v1/events/watch',
    role: 'viewer',
    scope: 'each',
    summary: 'Tells what happens to resources as it happens',
    gives: 'stream',
    query: { ...FILTER, since: 'the id of an event; without it from now on' },
    handle: watchEvents,
  },
  {
    method: 'POST',
    path: '/api/v1/workspaces/{workspace}/apikeys/{name}/issue',
    role: 'admin',
    scope: 'workspace',
    summary: 'Gives an ApiKey a new text, shows it this once, and ends the one before',
    gives: 'object',
    handle: issue,
  },
  {
    method: 'GET',
    path: '/api/v1/audit',
    role: 'admin',
    scope: 'global',
    summary: 'Lists who changed what, the latest first',
    gives: 'list',
    query: { kind: 'by kind', workspace: 'by workspace', name: 'by name', actor: 'by who it was', limit: '1 to 1000' },
    handle: audit,
  },
];

async function apply({ store }: ControlHost, { body, caller, query }: ControlRequest) {
  const dryRun = yesOrNo(query, 'dry_run');
  const read = readDocuments(body, query.get('file') ?? 'body', query.get('workspace') ?? undefined);
  if (read.problems.length > 0) throw new InvalidResources(await allProblems(store, caller, read));
  const { written } = read;
  for (const { resource } of written) await authoriseChange(caller, store, resource);
  const applied = await store.apply(caller.name, written, { dryRun });
  const items = applied.map(({ action, differences, resource }) => ({ action, differences, resource }));
  return ok({ kind: 'Applied', dry_run: dryRun, text: planText(applied, { isDryRun: dryRun }), items });
}

/** Also what documents that are wrong name and what is not there, as far as whoever asks may know. */
async function allProblems(store: ControlStore, caller: Caller, { drafts, problems }: ReadDocuments) {
  const mayChange = ({ kind: { changedBy, scope }, workspace }: Draft) =>
    isEnough(scope === 'global' ? caller.role : roleIn(caller, workspace), changedBy);
  const more = await store.problemsIn(drafts.filter(mayChange), drafts);
  const places = new Set(problems.map(({ place }) => place));
  return [...problems, ...more.filter(({ place }) => !places.has(place))];
}

async function issue({ keys, store }: ControlHost, { caller, params }: ControlRequest) {
  const ref = { kind: 'ApiKey', workspace: params.workspace!, name: params.name! };
  const present = await store.get(ref);
  if (present === null) throw unknownResource(ref);
  await authoriseChange(caller, store, present);
  const { id, text } = await issueKey(store, keys, ref, caller.name);
  const uid = present.metadata.uid!;
  await store.events.add({ ...ref, uid }, 'normal', 'Issued', 'it has a new text');
  return ok({ kind: 'IssuedKey', key_id: id, key: text });
}

async function watch({ feed }: ControlHost, request: ControlRequest) {
  const filter = filterOf(request);
  const since = boundedNumber(request.query, 'since', feed.version, 0, Number.MAX_SAFE_INTEGER);
  return { status: 200 as const, stream: changeStream(feed.follow(since, filter, request.signal)) };
}

async function watchEvents({ store: { events, resources } }: ControlHost, request: ControlRequest) {
  const filter = filterOf(request);
  const [last] = await events.list({ limit: 1 });
  const since = boundedNumber(request.query, 'since', last?.id ?? 0, 0, Number.MAX_SAFE_INTEGER);
  const isTold = await notOfFormer(resources, filter);
  return { status: 200 as const, stream: happenings(followEvents(events, since, filter, request.signal), isTold) };
}

/** Whoever has the name later is told of too: that is what is watched for. */
async function notOfFormer(resources: Resources, { kind, name, workspace }: FeedFilter) {
  if (kind === undefined || name === undefined || workspace === undefined) return () => true;
  const present = await resources.get({ kind, workspace, name });
  return ({ lastAt, uid }: ResourceEvent) => present === null || uid === present.uid || lastAt >= present.createdAt;
}

async function audit({ store }: ControlHost, { query }: ControlRequest) {
  const limit = boundedNumber(query, 'limit', 100, 1, 1000);
  const wanted: Record<string, string> = {};
  for (const name of ['kind', 'workspace', 'name', 'actor']) {
    const value = query.get(name);
    if (value !== null) wanted[name] = value;
  }
  const entries = await store.resources.audit({ ...wanted, limit });
  return ok({ kind: 'AuditList', items: entries.map((entry) => ({ ...entry, at: new Date(entry.at).toISOString() })) });
}

/** The one that has the name now, where one is asked for; what happened to others of that name is another story. */
async function uidOf({ resources }: ControlStore, { kind, name, workspace }: FeedFilter): Promise<string | null> {
  if (kind === undefined || name === undefined || workspace === undefined) return null;
  const ref = { kind, workspace, name };
  const present = await resources.get(ref);
  if (present === null) throw unknownResource(ref);
  return present.uid;
}

/** What is asked for, once it is clear that whoever asks may see it. */
function filterOf({ caller, query }: ControlRequest): FeedFilter {
  const given = query.get('kind');
  const kind = given === null ? null : kindNamed(given, '?kind');
  // What belongs to no workspace may be seen by whoever may see anything.
  const workspace = kind?.scope === 'global' ? '' : query.get('workspace');
  const scope = kind?.scope === 'global' ? 'anywhere' : workspace === null ? 'global' : 'workspace';
  authorise(caller, { role: 'viewer', scope }, workspace ?? '');
  const name = query.get('name');
  return {
    ...(kind === null ? {} : { kind: kind.kind }),
    ...(workspace === null ? {} : { workspace }),
    ...(name === null ? {} : { name }),
  };
}

/** Server-sent events; their ids are what `since` takes. */
async function* changeStream(items: AsyncIterable<FeedItem>): AsyncGenerator<string> {
  for await (const item of items) {
    const type = item.type === 'change' ? item.change.type : item.type;
    const data = item.type === 'change' ? { type, resource: resourceView(item.change.record) } : { type };
    yield `id: ${item.version}\nevent: ${type}\ndata: ${JSON.stringify({ ...data, version: item.version })}\n\n`;
  }
}

async function* happenings(
  events: AsyncIterable<ResourceEvent>,
  isTold: (event: ResourceEvent) => boolean,
): AsyncGenerator<string> {
  for await (const event of events)
    if (isTold(event)) yield `id: ${event.id}\nevent: happened\ndata: ${JSON.stringify(eventView(event))}\n\n`;
}
