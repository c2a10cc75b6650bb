import { findExplanation } from '../../gateway/decisions/find-explanation.js';
import { type EndpointName, endpointName, namedEndpoint } from '../../gateway/fleet/endpoint-name.js';
import { KEPT_REPLICAS, type KeptExplanation, unpackExplanation } from '../../gateway/history/kept-explanation.js';
import { field, text } from '../../schema/fields.js';
import { authorise } from '../access/authorise.js';
import { type Caller, isEnough, roleIn } from '../access/caller.js';
import { type ApiRoute, defineRoute, ok } from '../api-route.js';
import { unknownDecision } from '../errors.js';
import { auditChange } from '../gateway/audit-change.js';
import { endpointView, liveEndpoint, replicaViews } from '../gateway/live-endpoints.js';
import { PastRequests } from '../gateway/past-requests.js';
import { keyIn, PAGE_QUERY, pageOf, pageOfAll } from '../pagination.js';
import { CONFIGURATION } from '../views/configuration-view.js';
import { DECISION, EXPLANATION } from '../views/decision-views.js';
import { LIVE_ENDPOINT, RELOADED, REPLICA } from '../views/gateway-views.js';
import { withoutSecrets } from '../without-secrets.js';
import { RECORDING_ROUTE } from './recording-route.js';

const IN_WORKSPACE = {
  workspace: field(text(63), {
    help: 'only of this workspace; without it, of those in which the caller has a role',
  }),
};

/** What the gateway itself knows: decisions, replicas, endpoints as they are served, its configuration. */
export const GATEWAY_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/decisions',
    role: 'viewer',
    scope: 'each',
    summary: 'List routing decisions, the latest first',
    query: { ...PAGE_QUERY, endpoint: field(text(), { help: 'only of this endpoint: name, or workspace/name' }) },
    response: { type: 'list', schema: DECISION },
    handle({ gateway: { endpoints, ring } }, { caller, query }) {
      const before = keyIn(query, [0]);
      const { endpoint, limit } = query;
      const isWanted = (called: string) =>
        (endpoint === undefined || called === endpoint) && sees(caller, namedEndpoint(endpoints, called));
      const read = ring.before(before?.[0] ?? Number.POSITIVE_INFINITY, limit + 1, isWanted, KEPT_REPLICAS);
      return ok(
        pageOf(
          'DecisionList',
          query,
          read,
          ({ number }) => [number],
          ({ record }) => record,
        ),
      );
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/decisions/{id}',
    role: 'viewer',
    scope: 'each',
    summary: 'Explain a request: why it went to its replica, or why it was refused',
    response: { type: 'object', schema: EXPLANATION },
    async handle(host, { caller, params }) {
      const { gateway } = host;
      const { endpoints, refusals, ring } = gateway;
      const found = findExplanation(ring, refusals, params.id!);
      const endpoint = found === undefined ? null : 'endpoint' in found ? found.endpoint : found.refused.endpoint;
      const { workspace } =
        endpoint === null
          ? { workspace: gateway.access?.workspaceOf(found?.refused?.key ?? '') ?? '' }
          : namedEndpoint(endpoints, endpoint);
      if (found !== undefined && sees(caller, { workspace })) return ok(found);
      const kept = (await new PastRequests(host, caller).explanation(params.id!)) as KeptExplanation | null;
      if (kept === null) throw unknownDecision(params.id!);
      return ok(unpackExplanation(params.id!, kept));
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/replicas',
    role: 'viewer',
    scope: 'each',
    summary: 'List replicas with their state, signals and requests in flight',
    query: { ...PAGE_QUERY, ...IN_WORKSPACE, endpoint: field(text(), { help: 'only of this endpoint' }) },
    response: { type: 'list', schema: REPLICA },
    handle({ gateway }, { caller, query }) {
      const { endpoint, workspace } = query;
      if (workspace !== undefined) authorise(caller, { role: 'viewer', scope: 'workspace' }, workspace);
      const wanted = replicaViews(
        gateway,
        (one) => isSeen(caller, one, workspace) && (endpoint === undefined || one.name === endpoint),
      );
      const keyOf = (one: (typeof wanted)[number]) => [one.workspace, one.endpoint, one.id];
      return ok(pageOfAll('ReplicaList', query, wanted, keyOf, (one) => one));
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/live',
    role: 'viewer',
    scope: 'each',
    summary: 'List endpoints as they are served now: policy, requests in flight and queued, replicas',
    query: { ...PAGE_QUERY, ...IN_WORKSPACE },
    response: { type: 'list', schema: LIVE_ENDPOINT },
    handle(host, { caller, query }) {
      const { gateway } = host;
      const { workspace } = query;
      if (workspace !== undefined) authorise(caller, { role: 'viewer', scope: 'workspace' }, workspace);
      const wanted = [...gateway.endpoints.values()]
        .map((endpoint) => ({ endpoint, ...endpointName(endpoint) }))
        .filter((one) => isSeen(caller, one, workspace));
      const viewOf = ({ endpoint, ...called }: (typeof wanted)[number]) => ({
        ...endpointView(gateway, endpoint),
        ...host.notesOn(called),
      });
      return ok(pageOfAll('LiveEndpointList', query, wanted, (one) => [one.workspace, one.name], viewOf));
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/workspaces/{workspace}/endpoints/{name}/live',
    role: 'viewer',
    scope: 'workspace',
    summary: 'Return an endpoint as it is served now',
    response: { type: 'object', schema: LIVE_ENDPOINT },
    handle(host, { params }) {
      const { gateway } = host;
      const endpoint = liveEndpoint(gateway, { workspace: params.workspace!, name: params.name! });
      const view = endpointView(gateway, endpoint);
      return ok({ ...view, ...host.notesOn(view) });
    },
  }),
  RECORDING_ROUTE,
  defineRoute({
    method: 'GET',
    path: '/api/v1/config',
    role: 'viewer',
    scope: 'global',
    summary: 'Return the configuration in force, without passwords',
    response: { type: 'object', schema: CONFIGURATION },
    handle: ({ gateway: { config, fleet } }) => ok(withoutSecrets({ ...config, endpoints: fleet.config })),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/config/reload',
    role: 'operator',
    scope: 'global',
    summary: 'Read the configuration file again and apply it without dropping a request',
    response: { type: 'object', schema: RELOADED },
    async handle(host, { caller }) {
      const { gateway } = host;
      const before = gateway.config;
      const needsRestart = gateway.reloadConfig();
      await auditChange(host, caller.name, {
        ...{ kind: 'Configuration', workspace: '', name: 'gateway', action: 'update' },
        ...{ before, after: gateway.config },
      });
      return ok({ status: 'reloaded', needs_restart: needsRestart });
    },
  }),
];

/** @param only of this workspace */
const isSeen = (caller: Caller, one: EndpointName, only: string | undefined) =>
  sees(caller, one) && (only === undefined || one.workspace === only);

const sees = (caller: Caller, { workspace }: { readonly workspace: string }) =>
  isEnough(roleIn(caller, workspace), 'viewer');
