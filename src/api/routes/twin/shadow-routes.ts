import { readShadowBody } from '../../../gateway/config/read-admin-body.js';
import { SHADOW_SCHEMA, type ShadowKeys, shadowKeys } from '../../../policy/bundle/shadow-choice.js';
import { bodyPlace } from '../../../schema/read-json.js';
import type { ApiHost, ServedGateway } from '../../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../../api-route.js';
import { otherThanPath } from '../../errors.js';
import { auditChange } from '../../gateway/audit-change.js';
import { liveEndpoint } from '../../gateway/live-endpoints.js';
import { PAGE_QUERY, pageOfAll } from '../../pagination.js';
import { SHADOW_REPORT, shadowView } from '../../views/shadow-views.js';

const ALL = '/api/v1/workspaces/{workspace}/endpoints/{name}/shadows';
const ONE = `${ALL}/{shadow}`;

/** Shadow policies of endpoints as the gateway serves them, also of endpoints of the control plane. */
export const SHADOW_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'GET',
    path: ALL,
    role: 'viewer',
    scope: 'workspace',
    summary: 'List the shadow policies of an endpoint, and how often they agree with the policy that serves',
    query: PAGE_QUERY,
    response: { type: 'list', schema: SHADOW_REPORT },
    handle: ({ gateway }, { params, query }) =>
      ok(
        pageOfAll(
          'ShadowReportList',
          query,
          shadowViews(gateway, params),
          ({ name }) => [name],
          (one) => one,
        ),
      ),
  }),
  defineRoute({
    method: 'PUT',
    path: ONE,
    role: 'operator',
    scope: 'workspace',
    summary: 'Add a shadow policy to an endpoint until the gateway stops, or change one that was added',
    body: { type: 'json', schema: SHADOW_SCHEMA, example: { policy: 'lmetric' }, asGiven: true },
    response: { type: 'object', schema: SHADOW_REPORT },
    handle: putShadow,
  }),
  defineRoute({
    method: 'DELETE',
    path: ONE,
    role: 'operator',
    scope: 'workspace',
    summary: 'Remove a shadow policy that was added',
    response: { type: 'object', schema: SHADOW_REPORT },
    handle: removeShadow,
  }),
];

type Params = ApiRequest['params'];

const endpointOf = (gateway: ServedGateway, { name, workspace }: Params) =>
  liveEndpoint(gateway, { workspace: workspace!, name: name! });

function shadowViews(gateway: ServedGateway, params: Params) {
  const nowMs = gateway.nowMs();
  return gateway.fleet.shadows!.of(endpointOf(gateway, params)).map((one) => shadowView(one, nowMs));
}

const namedView = (gateway: ServedGateway, params: Params) =>
  shadowViews(gateway, params).find(({ name }) => name === params.shadow);

async function putShadow(host: ApiHost, { body, caller, params }: ApiRequest<object, ShadowKeys>) {
  const { gateway } = host;
  const endpoint = endpointOf(gateway, params);
  const name = params.shadow!;
  if (body.name !== undefined && body.name !== name) throw otherThanPath(bodyPlace('name'), body.name, name);
  const choice = readShadowBody(body, name);
  const before = namedView(gateway, params);
  gateway.fleet.shadows!.add(endpoint, choice);
  await auditChange(host, caller.name, {
    ...{ kind: 'Shadow', workspace: params.workspace!, name: `${params.name}/${name}` },
    action: before === undefined ? 'create' : 'update',
    before: before === undefined ? null : shadowKeys(before),
    after: shadowKeys(choice),
  });
  return ok(namedView(gateway, params));
}

async function removeShadow(host: ApiHost, { caller, params }: ApiRequest<object, undefined>) {
  const { gateway } = host;
  const endpoint = endpointOf(gateway, params);
  const before = namedView(gateway, params);
  gateway.fleet.shadows!.remove(endpoint, params.shadow!);
  await auditChange(host, caller.name, {
    ...{ kind: 'Shadow', workspace: params.workspace!, name: `${params.name}/${params.shadow}` },
    ...{ action: 'delete', before: shadowKeys(before!), after: null },
  });
  return ok(before);
}
