import { findExplanation } from '../../gateway/decisions/find-explanation.js';
import { field, text } from '../../schema/fields.js';
import { authorise } from '../access/authorise.js';
import { type ApiRoute, defineRoute, ok } from '../api-route.js';
import { unknownDecision } from '../errors.js';
import { auditChange } from '../gateway/audit-change.js';
import { endpointView, liveEndpoint, replicaViews } from '../gateway/live-endpoints.js';
import { keyIn, PAGE_QUERY, pageOf, pageOfAll } from '../pagination.js';
import { CONFIGURATION } from '../views/configuration-view.js';
import { DECISION, EXPLANATION } from '../views/decision-views.js';
import { LIVE_ENDPOINT, RELOADED, REPLICA } from '../views/gateway-views.js';
import { withoutSecrets } from '../without-secrets.js';

const IN_WORKSPACE = {
  workspace: field(text(63), { help: 'only of this workspace; required without a role in every workspace' }),
};

/** What the gateway itself knows: decisions, replicas, endpoints as they are served, its configuration. */
export const GATEWAY_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/decisions',
    role: 'viewer',
    scope: 'global',
    summary: 'List routing decisions, the latest first',
    query: { ...PAGE_QUERY, endpoint: field(text(), { help: 'only of this endpoint: name, or workspace/name' }) },
    response: { type: 'list', schema: DECISION },
    handle({ gateway: { ring } }, { query }) {
      const before = keyIn(query, [0]);
      const { endpoint, limit } = query;
      const read = ring.before(before?.[0] ?? Number.POSITIVE_INFINITY, limit + 1, endpoint);
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
    scope: 'global',
    summary: 'Explain a request: why it went to its replica, or why it was refused',
    response: { type: 'object', schema: EXPLANATION },
    handle({ gateway: { refusals, ring } }, { params }) {
      const found = findExplanation(ring, refusals, params.id!);
      if (found === undefined) throw unknownDecision(params.id!);
      return ok(found);
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
      authorise(caller, { role: 'viewer', scope: workspace === undefined ? 'global' : 'workspace' }, workspace ?? '');
      const wanted = replicaViews(gateway).filter(
        (one) =>
          (workspace === undefined || one.workspace === workspace) &&
          (endpoint === undefined || one.endpoint === endpoint),
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
    handle({ gateway }, { caller, query }) {
      const { workspace } = query;
      authorise(caller, { role: 'viewer', scope: workspace === undefined ? 'global' : 'workspace' }, workspace ?? '');
      const all = [...gateway.endpoints.values()].map(endpointView);
      const wanted = all.filter((one) => workspace === undefined || one.workspace === workspace);
      return ok(
        pageOfAll(
          'LiveEndpointList',
          query,
          wanted,
          (one) => [one.workspace, one.name],
          (one) => one,
        ),
      );
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/workspaces/{workspace}/endpoints/{name}/live',
    role: 'viewer',
    scope: 'workspace',
    summary: 'Return an endpoint as it is served now',
    response: { type: 'object', schema: LIVE_ENDPOINT },
    handle: ({ gateway }, { params }) =>
      ok(endpointView(liveEndpoint(gateway, { workspace: params.workspace!, name: params.name! }))),
  }),
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
        ...{ kind: 'Configuration', name: 'gateway', action: 'update' },
        ...{ before, after: gateway.config },
      });
      return ok({ status: 'reloaded', needs_restart: needsRestart });
    },
  }),
];
