import { unknownResource } from '../../store/resources/resource-errors.js';
import type { ResourceRef } from '../../store/resources/resource-record.js';
import { checkedStatus } from '../resources/check-resource.js';
import { invalidField } from '../resources/errors.js';
import type { ResourceKind } from '../resources/kind.js';
import { labelSelector } from '../resources/label-selector.js';
import { readResources, type WrittenResource } from '../resources/read-resources.js';
import { authoriseChange } from './authorise.js';
import { type ControlHost, type ControlRequest, type ControlRoute, ok } from './control-route.js';
import { otherThanPath } from './errors.js';
import { boundedNumber, eventView } from './query.js';
import { BODY, jsonObject, versionOf } from './request-parts.js';

/** What can be done with the resources of a kind. */
export function resourceRoutes(kind: ResourceKind): ControlRoute[] {
  const isGlobal = kind.scope === 'global';
  const base = isGlobal ? `/api/v1/${kind.plural}` : `/api/v1/workspaces/{workspace}/${kind.plural}`;
  const one = `${base}/{name}`;
  const reads = { role: 'viewer', scope: isGlobal ? 'anywhere' : 'workspace', kind } as const;
  const writes = { role: kind.changedBy, scope: kind.scope, kind } as const;
  const { kind: called } = kind;
  const listed = { gives: 'list', query: { labels: 'those with these labels: a=b,c!=d,e,!f' } } as const;
  const routes: ControlRoute[] = [
    { ...reads, ...listed, method: 'GET', path: base, summary: `Lists ${kind.plural}`, handle: lists(kind) },
    {
      ...writes,
      method: 'POST',
      path: base,
      summary: `Makes a new ${called}`,
      takes: 'resource',
      gives: 'resource',
      handle: creates(kind),
    },
    { ...reads, method: 'GET', path: one, summary: `Shows a ${called}`, gives: 'resource', handle: shows(kind) },
    {
      ...writes,
      method: 'PUT',
      path: one,
      summary: `Makes a ${called} so, new or not`,
      takes: 'resource',
      gives: 'resource',
      handle: puts(kind),
    },
    {
      ...writes,
      method: 'DELETE',
      path: one,
      summary: `Asks a ${called} to go`,
      gives: 'resource',
      handle: deletes(kind),
    },
    {
      ...reads,
      method: 'GET',
      path: `${one}/events`,
      summary: `Lists what happened to a ${called}, the latest first`,
      gives: 'list',
      query: { limit: '1 to 1000' },
      handle: listsEvents(kind),
    },
    {
      ...writes,
      role: 'admin',
      scope: 'global',
      method: 'PATCH',
      path: `${one}/status`,
      summary: `Says how a ${called} is: for controllers`,
      takes: 'status',
      gives: 'resource',
      handle: patchesStatus(kind),
    },
  ];
  if (isGlobal) return routes;
  const everywhere = {
    ...reads,
    ...listed,
    scope: 'global',
    summary: `Lists ${kind.plural} of all workspaces`,
  } as const;
  return [...routes, { ...everywhere, method: 'GET', path: `/api/v1/${kind.plural}`, handle: lists(kind) }];
}

type Handle = ControlRoute['handle'];

const refIn = ({ kind }: ResourceKind, { params }: ControlRequest): ResourceRef => ({
  kind,
  workspace: params.workspace ?? '',
  name: params.name!,
});

function lists({ kind, scope }: ResourceKind): Handle {
  return async ({ feed, store }, { params, query }) => {
    const selects = labelSelector(query.get('labels') ?? '', '?labels');
    // Asked for first: whoever goes on from here hears again of what happened meanwhile, and misses nothing.
    const { version } = feed;
    const workspace = scope === 'global' ? '' : params.workspace;
    const items = await store.list(workspace === undefined ? { kind } : { kind, workspace }, selects);
    return ok({ kind: `${kind}List`, resource_version: version, items });
  };
}

function shows(kind: ResourceKind): Handle {
  return async ({ store }, request) => {
    const ref = refIn(kind, request);
    const resource = await store.get(ref);
    if (resource === null) throw unknownResource(ref);
    return ok(resource);
  };
}

function creates(kind: ResourceKind): Handle {
  return async (host, request) => {
    const written = await checkedBody(host, kind, request);
    const [applied] = await host.store.apply(request.caller.name, [{ ...written, expected: null }]);
    return { status: 201, body: applied!.resource };
  };
}

function puts(kind: ResourceKind): Handle {
  return async (host, request) => {
    const written = await checkedBody(host, kind, request);
    const expected = versionOf(request.ifMatch);
    const wanted = expected === undefined ? written : { ...written, expected };
    const [applied] = await host.store.apply(request.caller.name, [wanted]);
    return { status: applied!.action === 'created' ? 201 : 200, body: applied!.resource };
  };
}

function deletes(kind: ResourceKind): Handle {
  return async ({ store }, request) => {
    const ref = refIn(kind, request);
    const present = await store.get(ref);
    if (present === null) throw unknownResource(ref);
    await authoriseChange(request.caller, store, present);
    return { status: 202, body: await store.delete(request.caller.name, ref, versionOf(request.ifMatch) ?? 'any') };
  };
}

function listsEvents(kind: ResourceKind): Handle {
  return async ({ store }, request) => {
    const limit = boundedNumber(request.query, 'limit', 100, 1, 1000);
    const ref = refIn(kind, request);
    const present = await store.resources.get(ref);
    if (present === null) throw unknownResource(ref);
    const events = await store.events.list({ uid: present.uid, limit });
    return ok({ kind: 'EventList', items: events.map(eventView) });
  };
}

function patchesStatus(kind: ResourceKind): Handle {
  return async ({ store }, request) => {
    const ref = refIn(kind, request);
    const present = await store.get(ref);
    if (present === null) throw unknownResource(ref);
    const given = jsonObject(request.body, 'give the parts of the status that are new');
    const status = checkedStatus(kind, { ...present.status, ...given }, (path) => `${BODY} (${path})`);
    const after = await store.actOn(request.caller.name, 'status', ref, present.metadata.uid!, status);
    if (after === null) throw unknownResource(ref);
    return ok(after);
  };
}

/** The one resource of a body: of the kind, and called as the path says. */
async function checkedBody(
  host: ControlHost,
  kind: ResourceKind,
  { body, caller, params }: ControlRequest,
): Promise<WrittenResource> {
  const written = readResources(body, BODY, params.workspace);
  const [{ placeOf, resource }] = written as [WrittenResource];
  if (written.length > 1)
    throw invalidField(BODY, `holds ${written.length} resources`, 'send one, or use /api/v1/apply');
  if (resource.kind !== kind.kind) throw otherThanPath(placeOf('kind'), resource.kind, kind.kind);
  for (const key of ['name', 'workspace'] as const) {
    const wanted = params[key];
    const given = resource.metadata[key];
    if (wanted !== undefined && given !== undefined && given !== wanted) {
      throw otherThanPath(placeOf(`metadata.${key}`), given, wanted);
    }
  }
  await authoriseChange(caller, host.store, resource);
  return written[0]!;
}
