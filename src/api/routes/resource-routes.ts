import { checkedStatus } from '../../control/resources/check-resource.js';
import { hostileValueProblem } from '../../control/resources/documents/document-limits.js';
import { InvalidResources, invalidField } from '../../control/resources/errors.js';
import type { ResourceKind } from '../../control/resources/kind.js';
import { labelSelector, selectedParts } from '../../control/resources/label-selector.js';
import { readDocuments, type WrittenResource } from '../../control/resources/read-resources.js';
import type { Resource } from '../../control/resources/resource.js';
import type { ControlStore } from '../../control/store/control-store.js';
import { choice, field, flag, text } from '../../schema/fields.js';
import { API_KEY } from '../../store/keys/key-record.js';
import { unknownResource } from '../../store/resources/resource-errors.js';
import { isSeen } from '../../store/resources/seen-workspaces.js';
import { authoriseRemoval } from '../access/authorise.js';
import { workspacesWith } from '../access/caller.js';
import type { ApiHost } from '../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../api-route.js';
import { changeable, checkChanges, refIn, rightsOf } from '../changes/change-resource.js';
import { fileEndpointsIn, refuseFileEndpoint } from '../changes/file-endpoints.js';
import { otherThanPath } from '../errors.js';
import { findEndpoint, profilesOf } from '../gateway/live-endpoints.js';
import { PAGE_QUERY, type PageQuery } from '../pagination.js';
import { BODY, jsonObject, RESOURCE_VERSION, versionOf } from '../request-parts.js';
import { FIELDS_QUERY, projection } from '../views/projection.js';
import { RESOURCE_SORTS, resourceListPage } from './resource-list-page.js';

const LIST_QUERY = {
  ...PAGE_QUERY,
  ...FIELDS_QUERY,
  labels: field(text(), { help: 'only those with these labels: a=b,c!=d,e,!f,g in (h,i)' }),
  uid: field(text(64), { help: 'only the one with this uid' }),
  search: field(text(63), { help: 'only those with this in their name' }),
  phase: field(text(63), { help: 'only those in this phase' }),
  sort: field(choice(RESOURCE_SORTS), {
    default: 'name',
    help: 'by workspace and name, or by the time of creation; with - the other way round',
  }),
  count: field(flag, { default: false, help: 'also count those that fit, on all pages' }),
};

/** The operations that every kind of resource has. */
export function resourceRoutes(kind: ResourceKind): ApiRoute[] {
  const isGlobal = kind.scope === 'global';
  const base = isGlobal ? `/api/v1/${kind.plural}` : `/api/v1/workspaces/{workspace}/${kind.plural}`;
  const one = `${base}/{name}`;
  const reads = { role: 'viewer', scope: isGlobal ? 'anywhere' : 'workspace', kind } as const;
  const writes = { role: kind.changedBy, scope: kind.scope, kind, response: { type: 'resource' } } as const;
  const { kind: called } = kind;
  /** With its article. */
  const article = `${/^[AEIOU]/.test(called) ? 'an' : 'a'} ${called}`;
  const list = { ...reads, method: 'GET', response: { type: 'resources' }, query: LIST_QUERY } as const;
  const routes: ApiRoute[] = [
    defineRoute({ ...list, path: base, summary: `List ${kind.plural}`, handle: lists(kind) }),
    defineRoute({
      ...writes,
      method: 'POST',
      path: base,
      summary: `Create a new ${called}`,
      body: { type: 'resource' },
      status: 201,
      handle: creates(kind),
    }),
    defineRoute({
      ...reads,
      method: 'GET',
      path: one,
      summary: `Return one ${called}`,
      response: { type: 'resource' },
      query: FIELDS_QUERY,
      handle: returnsOne(kind),
    }),
    defineRoute({
      ...writes,
      method: 'PUT',
      path: one,
      summary: `Create or change ${article}`,
      mayCreate: true,
      body: { type: 'resource' },
      ifMatch: RESOURCE_VERSION,
      handle: puts(kind),
    }),
    defineRoute({
      ...writes,
      method: 'DELETE',
      path: one,
      summary:
        called === API_KEY
          ? `Delete ${article}, which is refused at once`
          : `Delete ${article}; it is listed until what it stands for has been taken down`,
      status: 202,
      ifMatch: RESOURCE_VERSION,
      handle: deletes(kind),
    }),
  ];
  // The status of a key follows from its secret.
  if (called !== API_KEY)
    routes.push(
      defineRoute({
        ...writes,
        role: 'admin',
        scope: 'global',
        method: 'PATCH',
        path: `${one}/status`,
        summary: `Change the status of ${article}: for controllers`,
        body: { type: 'status' },
        handle: patchesStatus(kind),
      }),
    );
  if (isGlobal) return routes;
  return [
    ...routes,
    defineRoute({
      ...list,
      scope: 'each',
      path: `/api/v1/${kind.plural}`,
      summary: `List ${kind.plural} of every workspace`,
      handle: lists(kind),
    }),
  ];
}

interface ListQuery extends PageQuery {
  readonly fields?: string | undefined;
  readonly labels?: string | undefined;
  readonly uid?: string | undefined;
  readonly search?: string | undefined;
  readonly phase?: string | undefined;
  readonly sort: (typeof RESOURCE_SORTS)[number];
  readonly count: boolean;
}

type ListRequest = ApiRequest<ListQuery, undefined>;
type TextRequest = ApiRequest<object, string>;

function lists(resourceKind: ResourceKind) {
  const { kind, scope } = resourceKind;
  return async (host: ApiHost, { caller, params, query }: ListRequest) => {
    const shown = projection(resourceKind, query.fields);
    const selects = query.labels === undefined ? null : labelSelector(query.labels, '?labels');
    const workspace = scope === 'global' ? '' : params.workspace;
    const workspaces = workspacesWith(caller, 'viewer');
    const wanted = {
      ...{ kind, ...(workspace === undefined ? {} : { workspace }) },
      ...(workspaces === undefined ? {} : { workspaces }),
      labelParts: selectedParts(query.labels ?? ''),
    };
    const { count, phase, search, sort, uid } = query;
    const page = await resourceListPage(host, wanted, { count, selects, uid, search, phase, sort }, query);
    return ok({ ...page, items: page.items.map((one) => shown(withNotes(host, one))) });
  };
}

function returnsOne(kind: ResourceKind) {
  return async (host: ApiHost, request: ApiRequest<{ readonly fields?: string | undefined }, undefined>) => {
    const shown = projection(kind, request.query.fields);
    const ref = refIn(kind, request);
    const [ofFile] = fileEndpointsIn(host, ref);
    if (ofFile !== undefined) return ok(shown(withNotes(host, ofFile)));
    const resource = await (await host.resources()).get(ref);
    if (resource === null || !isSeen(ref, workspacesWith(request.caller, 'viewer'))) throw unknownResource(ref);
    return ok(shown(withNotes(host, resource)));
  };
}

/** With the latest advice about its policy, the latest switch of it and its latency profiles in the status of an Endpoint, if there are any. */
function withNotes(host: ApiHost, resource: Resource): Resource {
  const { kind, metadata, status } = resource;
  if (kind !== 'Endpoint' || status === undefined) return resource;
  const called = { workspace: metadata.workspace!, name: metadata.name };
  const gateway = host.servedGateway;
  const endpoint = gateway === null ? undefined : findEndpoint(gateway, called);
  const profiles = endpoint === undefined ? [] : profilesOf(gateway!, endpoint.name);
  const notes = { ...host.notesOn(called), ...(profiles.length === 0 ? {} : { profiles }) };
  return { ...resource, status: { ...status, ...notes } };
}

function creates(kind: ResourceKind) {
  return async (host: ApiHost, request: TextRequest) => {
    const store = await changeable(host, kind);
    const written = await checkedBody(host, store, kind, request);
    const [applied] = await store.apply(
      request.caller.name,
      [{ ...written, expected: null }],
      rightsOf(request.caller),
    );
    return { status: 201, body: applied!.resource };
  };
}

function puts(kind: ResourceKind) {
  return async (host: ApiHost, request: TextRequest) => {
    const store = await changeable(host, kind);
    const written = await checkedBody(host, store, kind, request);
    const expected = versionOf(request.header('if-match'));
    const wanted = expected === undefined ? written : { ...written, expected };
    const [applied] = await store.apply(request.caller.name, [wanted], rightsOf(request.caller));
    return { status: applied!.action === 'created' ? 201 : 200, body: applied!.resource };
  };
}

function deletes(kind: ResourceKind) {
  return async (host: ApiHost, request: ApiRequest<object, undefined>) => {
    const ref = refIn(kind, request);
    refuseFileEndpoint(host, ref);
    const store = await changeable(host, kind);
    const present = await store.get(ref);
    if (present === null) throw unknownResource(ref);
    await authoriseRemoval(request.caller, store, present);
    const expected = versionOf(request.header('if-match')) ?? 'any';
    return { status: 202, body: await store.delete(request.caller.name, ref, expected) };
  };
}

function patchesStatus(kind: ResourceKind) {
  return async (host: ApiHost, request: TextRequest) => {
    const store = await changeable(host, kind);
    const ref = refIn(kind, request);
    const present = await store.get(ref);
    if (present === null) throw unknownResource(ref);
    const given = jsonObject(request.body, 'give the fields of the status that change');
    const hostile = hostileValueProblem(given, (path) => (path === '' ? BODY : `${BODY} (${path})`));
    if (hostile !== null) throw hostile;
    const status = checkedStatus(kind, { ...present.status, ...given }, (path) => `${BODY} (${path})`);
    const after = await store.actOn(request.caller.name, 'status', ref, present.metadata.uid!, status);
    if (after === null) throw unknownResource(ref);
    return ok(after);
  };
}

/** The one resource of a body: of the kind and with the names that the path says. */
async function checkedBody(
  host: ApiHost,
  store: ControlStore,
  kind: ResourceKind,
  { body, caller, params }: TextRequest,
): Promise<WrittenResource> {
  const { problems, written } = await readDocuments(body, BODY, params.workspace);
  if (problems.length > 0) throw new InvalidResources(problems);
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
  await checkChanges(host, caller, store, written);
  return written[0]!;
}
