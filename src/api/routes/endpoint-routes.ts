import { checkedResource } from '../../control/resources/check-resource.js';
import { endpoint } from '../../control/resources/kinds/endpoint.js';
import { required, section, whole } from '../../schema/fields.js';
import { ResourceConflict, unknownResource } from '../../store/resources/resource-errors.js';
import type { ResourceRef } from '../../store/resources/resource-record.js';
import { isAdminEverywhere } from '../access/caller.js';
import type { ApiHost } from '../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../api-route.js';
import { refuseFileEndpoint } from '../changes/file-endpoints.js';
import { RESOURCE_VERSION, versionOf } from '../request-parts.js';
import { LOG_ROUTE } from './log-route.js';

const ONE = `/api/v1/workspaces/{workspace}/${endpoint.plural}/{name}`;

const SCALE = section('Scale', { replicas: required(whole(0, 1000), { help: 'how many; 0 pauses the endpoint' }) });

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
    ifMatch: RESOURCE_VERSION,
    response: { type: 'resource' },
    handle: scale,
  }),
  LOG_ROUTE,
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
