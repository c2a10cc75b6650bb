import { InvalidResources } from '../../control/resources/errors.js';
import { needsAdminRole } from '../../control/store/errors.js';
import { REPLICA_SCHEMA } from '../../gateway/config/config-schema.js';
import type { ReplicaConfig } from '../../gateway/config/gateway-config.js';
import { MOST_REPLICAS } from '../../gateway/config/most-replicas.js';
import { policyKeys } from '../../gateway/config/policy-keys.js';
import { NEW_POLICY_SCHEMA, readPolicyBody, readReplicaBody } from '../../gateway/config/read-admin-body.js';
import { tooManyReplicas } from '../../gateway/errors.js';
import { policyHashOf } from '../../gateway/fleet/endpoint/deciding.js';
import { restrictedHost } from '../../protocol/http-client/address-rules.js';
import { field, flag } from '../../schema/fields.js';
import { bodyPlace } from '../../schema/read-json.js';
import { unknownResource } from '../../store/resources/resource-errors.js';
import { type Caller, isAdminEverywhere } from '../access/caller.js';
import type { ApiHost } from '../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../api-route.js';
import { checkPolicyHash, POLICY_HASH } from '../changes/expected-policy.js';
import { fileEndpointsIn } from '../changes/file-endpoints.js';
import { noEarlierPolicy, replicaElsewhere, takenReplica, unknownReplica } from '../errors.js';
import { auditChange } from '../gateway/audit-change.js';
import { endpointView, fileEndpoint, liveEndpoint, replicaView, replicaViews } from '../gateway/live-endpoints.js';
import { PAGE_QUERY, pageOfAll } from '../pagination.js';
import { LIVE_ENDPOINT, POLICY_VERSION, REMOVED_REPLICA, REPLICA } from '../views/gateway-views.js';

const ONE = '/api/v1/workspaces/{workspace}/endpoints/{name}';
const reads = { method: 'GET', role: 'viewer', scope: 'workspace' } as const;
const changes = { role: 'operator', scope: 'workspace' } as const;

/** Replicas and policies of endpoints as the gateway serves them. But for a drain, only endpoints of the configuration file are changed here. */
export const SERVED_ENDPOINT_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    ...reads,
    path: `${ONE}/replicas`,
    summary: 'List the replicas of an endpoint',
    query: PAGE_QUERY,
    response: { type: 'list', schema: REPLICA },
    handle({ gateway }, { params, query }) {
      const called = calledIn(params);
      liveEndpoint(gateway, called);
      const own = replicaViews(gateway).filter(
        ({ endpoint, workspace }) => endpoint === called.name && workspace === called.workspace,
      );
      return ok(
        pageOfAll(
          'ReplicaList',
          query,
          own,
          ({ id }) => [id],
          (one) => one,
        ),
      );
    },
  }),
  defineRoute({
    ...changes,
    method: 'POST',
    path: `${ONE}/replicas`,
    summary: 'Add a replica to an endpoint of the configuration file',
    body: { type: 'json', schema: REPLICA_SCHEMA, example: { url: 'http://127.0.0.1:9001' }, asGiven: true },
    response: { type: 'object', schema: REPLICA },
    status: 201,
    handle: addReplica,
  }),
  defineRoute({
    ...changes,
    method: 'DELETE',
    path: `${ONE}/replicas/{replica}`,
    summary: 'Remove a replica: it gets no new requests and leaves when its last one has ended',
    response: { type: 'object', schema: REMOVED_REPLICA },
    status: 202,
    handle: removeReplica,
  }),
  defineRoute({
    ...changes,
    method: 'POST',
    path: `${ONE}/replicas/{replica}/drain`,
    summary:
      'Drain a replica: it gets no new requests and leaves when its last one has ended; the control plane starts another one in its place before',
    response: { type: 'object', schema: REMOVED_REPLICA },
    status: 202,
    handle: drainReplica,
  }),
  defineRoute({
    ...changes,
    method: 'PUT',
    path: `${ONE}/policy`,
    summary: 'Swap the policy of an endpoint of the configuration file',
    body: { type: 'json', schema: NEW_POLICY_SCHEMA, example: { routing: { policy: 'lmetric' } }, asGiven: true },
    ifMatch: POLICY_HASH,
    query: { dry_run: field(flag, { default: false, help: 'only check the policy and return what would be served' }) },
    response: { type: 'object', schema: LIVE_ENDPOINT },
    async handle(host, request) {
      const warnings: string[] = [];
      if (request.query.dry_run) {
        const endpoint = fileEndpoint(host.gateway, calledIn(request.params));
        checkPolicyHash(endpoint, request);
        const policy = readPolicyBody(request.body, endpoint.policy, (line) => warnings.push(line));
        const next = { policy: policyKeys(policy), policy_hash: policyHashOf(policy) };
        return ok({ ...endpointView(host.gateway, endpoint), ...next, warnings });
      }
      const view = await changePolicy(host, request, (endpoint) =>
        endpoint.setPolicy(readPolicyBody(request.body, endpoint.policy, (line) => warnings.push(line))),
      );
      return ok({ ...view, warnings });
    },
  }),
  defineRoute({
    ...changes,
    method: 'POST',
    path: `${ONE}/policy/rollback`,
    summary: 'Return to the policy before this one; once more, to the one before that',
    ifMatch: POLICY_HASH,
    response: { type: 'object', schema: LIVE_ENDPOINT },
    handle: async (host, request) =>
      ok(
        await changePolicy(host, request, (endpoint) => {
          const { name, workspace } = calledIn(request.params);
          if (endpoint.rollback() === null) throw noEarlierPolicy(workspace, name);
        }),
      ),
  }),
  defineRoute({
    ...reads,
    path: `${ONE}/policy/history`,
    summary: 'List the policy in force and those before it, the latest first',
    query: PAGE_QUERY,
    response: { type: 'list', schema: POLICY_VERSION },
    handle({ gateway }, { params, query }) {
      const now = gateway.nowMs();
      const versions = liveEndpoint(gateway, calledIn(params))
        .history()
        .map((one, i) => ({ ...one, i }));
      return ok(
        pageOfAll(
          'PolicyVersionList',
          query,
          versions,
          ({ i }) => [i],
          ({ hash, policy, sinceUs }) => ({
            policy: policyKeys(policy),
            policy_hash: hash,
            age_s: (now - sinceUs / 1000) / 1000,
          }),
        ),
      );
    },
  }),
];

type Params = ApiRequest['params'];
type Endpoint = ReturnType<typeof fileEndpoint>;

const calledIn = ({ name, workspace }: Params) => ({ workspace: workspace!, name: name! });

async function addReplica(host: ApiHost, { body, caller, params }: ApiRequest<object, object>) {
  const { gateway } = host;
  const called = calledIn(params);
  const endpoint = fileEndpoint(gateway, called);
  const config = replicaFor(caller, readReplicaBody(body));
  if (gateway.replicas().some(({ id }) => id === config.id)) throw takenReplica(config.id);
  if (endpoint.replicas.length >= MOST_REPLICAS) {
    throw tooManyReplicas(`endpoint ${called.workspace}/${called.name}`, MOST_REPLICAS);
  }
  const replica = gateway.fleet.add(endpoint, config);
  const view = replicaView(called, replica, endpoint.inFlightOf(replica), endpoint.suspicionOf(replica));
  await auditChange(host, caller.name, {
    ...{ kind: 'Replica', workspace: called.workspace, name: config.id, action: 'create', before: null },
    after: { endpoint: called.name, ...config },
  });
  return { status: 201, body: view };
}

/** A replica that an operator adds is guarded as an upstream of an operator's external endpoint is. */
function replicaFor(caller: Caller, config: ReplicaConfig): ReplicaConfig {
  if (isAdminEverywhere(caller)) return config;
  const what = restrictedHost(new URL(config.url).hostname);
  if (what === null) return { ...config, isGuarded: true };
  const problem = `is ${what}, which needs the role admin in every workspace`;
  throw new InvalidResources([needsAdminRole(bodyPlace('url'), problem, 'ask an admin, or give another address')]);
}

async function removeReplica(host: ApiHost, { caller, params }: ApiRequest<object, undefined>) {
  const { gateway } = host;
  const { replicas } = fileEndpoint(gateway, calledIn(params));
  const replica = replicas.find(({ id }) => id === params.replica);
  if (replica === undefined) {
    const known = replicas.map(({ id }) => id);
    throw unknownReplica(`endpoint ${params.workspace}/${params.name}`, params.replica!, known);
  }
  const { endpoint, engine, id, url } = replica;
  gateway.fleet.remove(replica);
  await auditChange(host, caller.name, {
    ...{ kind: 'Replica', workspace: params.workspace!, name: id, action: 'delete', after: null },
    before: { endpoint, id, url, engine },
  });
  return { status: 202, body: { status: 'leaving', active: replica.active } };
}

/** Replicas of the control plane leave as its reconciliation does it: another one serves first, as far as the endpoint needs it. */
async function drainReplica(host: ApiHost, request: ApiRequest<object, undefined>) {
  const { caller, params } = request;
  const called = { kind: 'Endpoint', ...calledIn(params) };
  const [id, place] = [params.replica!, `endpoint ${called.workspace}/${called.name}`];
  if (fileEndpointsIn(host, called).length > 0) return removeReplica(host, request);
  const { drain, runner, store } = await host.control();
  if ((await store.get(called)) === null) throw unknownResource(called);
  const own = (await runner.list()).filter((one) => one.workspace === called.workspace && one.endpoint === called.name);
  const replica = own.find((one) => one.id === id);
  const served = (host.servedGateway === null ? [] : replicaViews(host.servedGateway)).find(
    (one) => one.id === id && one.endpoint === called.name && one.workspace === called.workspace,
  );
  if (replica === undefined) {
    if (served !== undefined) throw replicaElsewhere(place, id);
    throw unknownReplica(
      place,
      id,
      own.map((one) => one.id),
    );
  }
  if (!drain(called, id)) throw replicaElsewhere(place, id);
  const facts = { endpoint: called.name, id, url: replica.url };
  await auditChange(host, caller.name, {
    ...{ kind: 'Replica', workspace: called.workspace, name: id, action: 'update' },
    ...{ before: { ...facts, leaving: false }, after: { ...facts, leaving: true } },
  });
  return { status: 202, body: { status: 'leaving', active: served?.active ?? 0 } };
}

async function changePolicy(
  host: ApiHost,
  request: Pick<ApiRequest, 'caller' | 'header' | 'params'>,
  change: (endpoint: Endpoint) => void,
) {
  const { caller, params } = request;
  const endpoint = fileEndpoint(host.gateway, calledIn(params));
  checkPolicyHash(endpoint, request);
  const before = policyKeys(endpoint.policy);
  change(endpoint);
  await auditChange(host, caller.name, {
    ...{ kind: 'Policy', workspace: params.workspace!, name: endpoint.name, action: 'update' },
    ...{ before, after: policyKeys(endpoint.policy) },
  });
  return endpointView(host.gateway, endpoint);
}
