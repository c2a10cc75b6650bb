import type { ResourceKind } from '../../control/resources/kind.js';
import type { WrittenResource } from '../../control/resources/read-resources.js';
import type { Resource } from '../../control/resources/resource.js';
import type { ControlStore } from '../../control/store/control-store.js';
import { refOf } from '../../control/store/resource-view.js';
import { knownClasses } from '../../gateway/access/known-classes.js';
import { unknownClass } from '../../store/keys/errors.js';
import { API_KEY } from '../../store/keys/key-record.js';
import type { KeySpec } from '../../store/keys/key-schema.js';
import { ResourceConflict, unknownResource } from '../../store/resources/resource-errors.js';
import type { ResourceRef } from '../../store/resources/resource-record.js';
import { authoriseChange } from '../access/authorise.js';
import { type Caller, isAdminEverywhere } from '../access/caller.js';
import type { ApiHost } from '../api-host.js';
import type { ApiRequest } from '../api-route.js';
import { versionOf } from '../request-parts.js';
import { refuseFileEndpoint } from './file-endpoints.js';

/** How often a change without a version is made again after another one came first. */
const MOST_TRIES = 20;

/**
 * Throws unless the caller may make these changes. Every way to create or change a resource passes here: apply, create, put, patch and
 * rollback.
 */
export async function checkChanges(
  host: ApiHost,
  caller: Caller,
  store: ControlStore,
  written: readonly WrittenResource[],
): Promise<void> {
  for (const { resource } of written) {
    await authoriseChange(caller, store, resource);
    refuseFileEndpoint(host, refOf(resource));
  }
  await refuseUnknownClass(host, written);
}

/** What the store checks a change by. */
export const rightsOf = (caller: Caller) => ({ isAdmin: isAdminEverywhere(caller) });

/** Where changes go: to the control plane that reconciles them. An ApiKey needs none: gateways read it from the store. */
export const changeable = async (host: ApiHost, { kind }: Pick<ResourceKind, 'kind'>): Promise<ControlStore> =>
  kind === API_KEY ? host.resources() : (await host.control()).store;

export const refIn = ({ kind }: Pick<ResourceKind, 'kind'>, { params }: Pick<ApiRequest, 'params'>): ResourceRef => ({
  kind,
  workspace: params.workspace ?? '',
  name: params.name!,
});

/**
 * Changes the resource of a path into what `next` makes of it. A change that another one came before is made again, unless it is for
 * one version only: that of If-Match, or the one that `next` leaves in the metadata.
 */
export async function changeResource(
  host: ApiHost,
  kind: ResourceKind,
  request: ApiRequest<{ readonly dry_run: boolean }, unknown>,
  next: (before: Resource, store: ControlStore) => WrittenResource | Promise<WrittenResource>,
): Promise<Resource> {
  const ref = refIn(kind, request);
  refuseFileEndpoint(host, ref);
  const store = await changeable(host, kind);
  const asked = versionOf(request.header('if-match'));
  for (let tries = 1; ; tries++) {
    const before = await store.get(ref);
    if (before === null) throw unknownResource(ref);
    const written = await next(before, store);
    await checkChanges(host, request.caller, store, [written]);
    const present = before.metadata.resource_version!;
    const given = asked ?? written.resource.metadata.resource_version ?? present;
    try {
      const wanted = { ...written, expected: given };
      const options = { dryRun: request.query.dry_run, ...rightsOf(request.caller) };
      const [applied] = await store.apply(request.caller.name, [wanted], options);
      return applied!.resource;
    } catch (error) {
      const isOurs = error instanceof ResourceConflict && error.current !== null && given === present;
      if (!isOurs || asked !== undefined || tries === MOST_TRIES) throw error;
    }
  }
}

/** Refuses ApiKeys whose `max_slo_class` is neither built in nor defined by a policy that is known here. */
async function refuseUnknownClass(host: ApiHost, written: readonly WrittenResource[]): Promise<void> {
  for (const { placeOf, resource } of written) {
    if (resource.kind !== API_KEY) continue;
    const { max_slo_class: given } = resource.spec as KeySpec;
    if (given === undefined) continue;
    const known = [...(await knownClasses(host.servedGateway?.endpoints.values() ?? [], host.store)), ...host.classes];
    if (!known.includes(given)) throw unknownClass(placeOf('spec.max_slo_class'), given, known);
  }
}
