import { checkedResource } from '../../control/resources/check-resource.js';
import type { ResourceKind } from '../../control/resources/kind.js';
import type { Resource } from '../../control/resources/resource.js';
import type { ControlStore } from '../../control/store/control-store.js';
import { field, flag, section, whole } from '../../schema/fields.js';
import { unknownResource } from '../../store/resources/resource-errors.js';
import { withoutSealed } from '../../store/resources/secrets.js';
import { isSeen } from '../../store/resources/seen-workspaces.js';
import { workspacesWith } from '../access/caller.js';
import type { ApiHost } from '../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../api-route.js';
import { changeResource, refIn } from '../changes/change-resource.js';
import { readPatch } from '../changes/patch.js';
import { patchedResource } from '../changes/patched-resource.js';
import { noEarlierRevision, unknownRevision } from '../errors.js';
import { PAGE_QUERY, type PageQuery, pageOfAll } from '../pagination.js';
import { BODY, RESOURCE_VERSION } from '../request-parts.js';
import { REVISION } from '../views/resource-views.js';

const DRY_RUN = { dry_run: field(flag, { default: false, help: 'only return what the resource would be' }) };

const ROLLBACK = section('Rollback', {
  revision: field(whole(1), { defaultText: 'the one before the current one', help: 'a revision that is kept' }),
});

type ChangeRequest<Body> = ApiRequest<{ dry_run: boolean }, Body>;

/** Changes of a part of a resource, and its earlier generations. */
export function revisionRoutes(kind: ResourceKind): ApiRoute[] {
  const isGlobal = kind.scope === 'global';
  const one = isGlobal ? `/api/v1/${kind.plural}/{name}` : `/api/v1/workspaces/{workspace}/${kind.plural}/{name}`;
  const article = `${/^[AEIOU]/.test(kind.kind) ? 'an' : 'a'} ${kind.kind}`;
  const writes = { role: kind.changedBy, scope: kind.scope, kind, response: { type: 'resource' } } as const;
  return [
    defineRoute({
      ...writes,
      method: 'PATCH',
      path: one,
      summary: `Change parts of ${article} by a JSON merge patch or a JSON patch`,
      query: DRY_RUN,
      body: { type: 'patch' },
      ifMatch: RESOURCE_VERSION,
      handle: patches(kind),
    }),
    defineRoute({
      method: 'GET',
      path: `${one}/revisions`,
      role: 'viewer',
      scope: isGlobal ? 'anywhere' : 'workspace',
      kind,
      summary: `List the generations of ${article} that are kept, the latest first`,
      query: PAGE_QUERY,
      response: { type: 'list', schema: REVISION },
      handle: listsRevisions(kind),
    }),
    defineRoute({
      ...writes,
      method: 'POST',
      path: `${one}/rollback`,
      summary: `Restore the spec of an earlier generation of ${article}, with its secrets`,
      query: DRY_RUN,
      body: { type: 'json', schema: ROLLBACK, example: { revision: 3 }, optional: true },
      ifMatch: RESOURCE_VERSION,
      handle: rollsBack(kind),
    }),
  ];
}

function patches(kind: ResourceKind) {
  return async (host: ApiHost, request: ChangeRequest<string>) => {
    const patch = readPatch(request.body, request.header('content-type'));
    return ok(await changeResource(host, kind, request, (before) => patchedResource(before, patch)));
  };
}

function listsRevisions(kind: ResourceKind) {
  return async (host: ApiHost, request: ApiRequest<PageQuery, undefined>) => {
    const { resources } = await host.resources();
    const ref = refIn(kind, request);
    const present = await resources.get(ref);
    if (present === null || !isSeen(ref, workspacesWith(request.caller, 'viewer'))) throw unknownResource(ref);
    const all = await resources.revisions(present.uid);
    return ok(
      pageOfAll(
        'RevisionList',
        request.query,
        all,
        ({ generation }) => [-generation],
        ({ at, generation, spec, version }) => ({
          revision: generation,
          current: generation === present.generation,
          version,
          at: new Date(at).toISOString(),
          spec: withoutSealed(spec),
        }),
      ),
    );
  };
}

function rollsBack(kind: ResourceKind) {
  return async (host: ApiHost, request: ChangeRequest<{ revision?: number | undefined }>) => {
    const { revision } = request.body;
    const placeOf = (path: string) => `revision ${revision ?? 'before the current one'} (${path})`;
    const earlier = async (before: Resource, store: ControlStore) => {
      const spec = await specOf(kind, before, store, revision);
      const { resource_version: _, ...metadata } = before.metadata;
      return { resource: checkedResource({ ...before, metadata, spec }, placeOf), placeOf };
    };
    return ok(await changeResource(host, kind, request, earlier));
  };
}

/** The spec of a revision with its secrets, which are sealed again for the store. */
async function specOf(kind: ResourceKind, { metadata }: Resource, store: ControlStore, wanted: number | undefined) {
  const ref = { kind: kind.kind, workspace: metadata.workspace ?? '', name: metadata.name };
  const record = await store.resources.get(ref);
  if (record === null) throw unknownResource(ref);
  const kept = await store.resources.revisions(record.uid);
  const found = kept.find(({ generation }) =>
    wanted === undefined ? generation < record.generation : generation === wanted,
  );
  if (found !== undefined) return store.secretsOf({ ...record, spec: found.spec });
  if (wanted === undefined) throw noEarlierRevision(ref);
  throw unknownRevision(
    `${BODY} (revision)`,
    wanted,
    kept.map(({ generation }) => generation),
  );
}
