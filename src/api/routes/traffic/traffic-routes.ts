import type { PastRequest } from '../../../gateway/history/request-ring.js';
import { choice, field, text, whole } from '../../../schema/fields.js';
import { authorise } from '../../access/authorise.js';
import { type Caller, isEnough, roleIn } from '../../access/caller.js';
import type { ServedGateway } from '../../api-host.js';
import { type ApiRoute, defineRoute, ok } from '../../api-route.js';
import { unknownRequest } from '../../errors.js';
import { endpointName, namedEndpoint } from '../../gateway/live-endpoints.js';
import { pastRequestView, servedTraffic } from '../../gateway/traffic.js';
import { keyIn, PAGE_QUERY, pageOf, pageOfAll } from '../../pagination.js';
import { PAST_REQUEST, PAST_REQUEST_TOTAL, TRAFFIC, TRAFFIC_SERIES, TRAFFIC_TOTAL } from '../../views/traffic-views.js';

const OUTCOMES = [
  ...['ok', 'failed', 'client_error', 'upstream_error', 'timeout', 'client_left', 'refused', 'no_replica', 'fault'],
] as const;

const WHERE = {
  workspace: field(text(63), {
    help: 'only of this workspace; without it, of those in which the caller has a role',
  }),
  endpoint: field(text(), { help: 'only of endpoints of this name' }),
};

const REQUEST_QUERY = {
  ...PAGE_QUERY,
  ...WHERE,
  id: field(text(), { help: 'only requests whose id begins so' }),
  model: field(text(), { help: 'only for this model' }),
  key: field(text(), { help: 'only with the API key of this id' }),
  class: field(text(), { help: 'only of this SLO class' }),
  replica: field(text(), { help: 'only of this replica' }),
  outcome: field(choice(OUTCOMES), { help: 'only of requests that ended so; failed for all but ok' }),
  min_ttft_ms: field(whole(0, 1e9), { help: 'only with at least this time to first token' }),
  min_duration_ms: field(whole(0, 1e9), { help: 'only that took at least this long' }),
};

type Where = { readonly workspace?: string | undefined; readonly endpoint?: string | undefined };

/** What the gateway served lately. */
export const TRAFFIC_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/traffic',
    role: 'viewer',
    scope: 'each',
    summary: 'List endpoints with their rates over the last minute, their total, and the last half hour',
    query: { ...PAGE_QUERY, ...WHERE },
    response: { type: 'list', schema: TRAFFIC, more: { total: TRAFFIC_TOTAL, series: TRAFFIC_SERIES } },
    handle({ gateway }, { caller, query }) {
      const { items, series, total } = trafficFor(gateway, caller, query);
      const page = pageOfAll(
        'TrafficList',
        query,
        items,
        (one) => [one.workspace, one.name],
        (one) => one,
      );
      return ok({ ...page, total, series });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/requests',
    role: 'viewer',
    scope: 'each',
    summary: 'List the last requests that have ended, the latest first',
    query: REQUEST_QUERY,
    response: { type: 'list', schema: PAST_REQUEST, more: { total: PAST_REQUEST_TOTAL } },
    handle({ gateway }, { caller, query }) {
      const { requests } = gateway.traffic;
      if (query.workspace !== undefined) authorise(caller, { role: 'viewer', scope: 'workspace' }, query.workspace);
      const isSeen = seenBy(gateway, caller, query);
      const isWanted = (one: PastRequest) => fits(one, query) && isSeen(one);
      const before = keyIn(query, [0]);
      const read = requests.before(before?.[0] ?? Number.POSITIVE_INFINITY, query.limit + 1, isWanted);
      const page = pageOf(
        'PastRequestList',
        query,
        read,
        ({ number }) => [number],
        (one) => pastRequestView(gateway, one),
      );
      return ok({ ...page, total: requests.count(isWanted) });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/requests/{id}',
    role: 'viewer',
    scope: 'each',
    summary: 'Return the last request of an id: its times, attempts and outcome',
    response: { type: 'object', schema: PAST_REQUEST },
    handle({ gateway }, { caller, params }) {
      const isSeen = seenBy(gateway, caller, {});
      const isWanted = (one: PastRequest) => one.id === params.id && isSeen(one);
      const [found] = gateway.traffic.requests.before(Number.POSITIVE_INFINITY, 1, isWanted);
      if (found === undefined) throw unknownRequest(params.id!);
      return ok(pastRequestView(gateway, found));
    },
  }),
];

/** The traffic of the endpoints that a caller sees. */
export function trafficFor(gateway: ServedGateway, caller: Caller, { endpoint, workspace }: Where) {
  if (workspace !== undefined) authorise(caller, { role: 'viewer', scope: 'workspace' }, workspace);
  const wanted = [...gateway.endpoints.values()].filter((one) => {
    const called = endpointName(one);
    return (
      isEnough(roleIn(caller, called.workspace), 'viewer') &&
      (workspace === undefined || called.workspace === workspace) &&
      (endpoint === undefined || called.name === endpoint)
    );
  });
  return servedTraffic(gateway, wanted);
}

/** Whether a request is of an endpoint that the caller sees and asks for; each endpoint is looked up once. */
function seenBy({ endpoints }: ServedGateway, caller: Caller, { endpoint, workspace }: Where) {
  const known = new Map<string, boolean>();
  return ({ endpoint: full }: PastRequest) => {
    let isSeen = known.get(full);
    if (isSeen === undefined) {
      const called = namedEndpoint(endpoints, full);
      isSeen =
        isEnough(roleIn(caller, called.workspace), 'viewer') &&
        (workspace === undefined || called.workspace === workspace) &&
        (endpoint === undefined || called.name === endpoint);
      known.set(full, isSeen);
    }
    return isSeen;
  };
}

interface RequestFilter {
  readonly id?: string | undefined;
  readonly model?: string | undefined;
  readonly key?: string | undefined;
  readonly class?: string | undefined;
  readonly replica?: string | undefined;
  readonly outcome?: (typeof OUTCOMES)[number] | undefined;
  readonly min_ttft_ms?: number | undefined;
  readonly min_duration_ms?: number | undefined;
}

function fits(one: PastRequest, filter: RequestFilter): boolean {
  const { outcome } = filter;
  return (
    (filter.id === undefined || one.id.startsWith(filter.id)) &&
    (filter.model === undefined || one.model === filter.model) &&
    (filter.key === undefined || one.keyId === filter.key) &&
    (filter.class === undefined || one.sloClass === filter.class) &&
    (filter.replica === undefined || one.replica === filter.replica) &&
    (outcome === undefined || (outcome === 'failed' ? one.outcome !== 'ok' : one.outcome === outcome)) &&
    (filter.min_duration_ms === undefined || one.endedUs - one.arrivedUs >= 1000 * filter.min_duration_ms) &&
    (filter.min_ttft_ms === undefined ||
      (one.firstTokenUs >= 0 && one.firstTokenUs - one.arrivedUs >= 1000 * filter.min_ttft_ms))
  );
}
