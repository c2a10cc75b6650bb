import { endpointName } from '../../../gateway/fleet/endpoint-name.js';
import { choice, field, text, whole } from '../../../schema/fields.js';
import { FAILED_OUTCOMES, type RequestFilter } from '../../../store/requests/kept-request.js';
import { authorise } from '../../access/authorise.js';
import { type Caller, isEnough, roleIn } from '../../access/caller.js';
import type { ServedGateway } from '../../api-host.js';
import { type ApiRoute, defineRoute, ok } from '../../api-route.js';
import { badQuery, unknownRequest } from '../../errors.js';
import { PastRequests } from '../../gateway/past-requests.js';
import { pastRequestView, servedTraffic } from '../../gateway/traffic.js';
import { keyIn, PAGE_QUERY, pageOf, pageOfAll } from '../../pagination.js';
import { PAST_REQUEST, PAST_REQUEST_MORE, TRAFFIC, TRAFFIC_SERIES, TRAFFIC_TOTAL } from '../../views/traffic-views.js';

const OUTCOMES = ['ok', 'failed', ...FAILED_OUTCOMES] as const;

const WHERE = {
  workspace: field(text(63), {
    help: 'only of this workspace; without it, of those in which the caller has a role',
  }),
  endpoint: field(text(), { help: 'only of endpoints of this name' }),
};

const NUMBERS = {
  min_ttft_ms: field(whole(0, 1e9), { help: 'only with at least this time to first token' }),
  min_duration_ms: field(whole(0, 1e9), { help: 'only that took at least this long' }),
  within_s: field(whole(1, 1e9), { help: 'only that ended within this many seconds' }),
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
  ...NUMBERS,
  from: field(text(40), { help: 'only that ended at this time or later, as in 2030-01-31T12:00:00Z' }),
  to: field(text(40), { help: 'only that ended before this time' }),
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
    summary:
      'List requests that have ended, the latest first: the last ones from memory, earlier ones as long as the store keeps them',
    query: REQUEST_QUERY,
    response: { type: 'list', schema: PAST_REQUEST, more: PAST_REQUEST_MORE },
    async handle(host, { caller, query }) {
      const { workspace } = query;
      if (workspace !== undefined) authorise(caller, { role: 'viewer', scope: 'workspace' }, workspace);
      const last = keyIn(query, [0, '', 0]);
      const before = last === null ? null : { endedAt: last[0], gateway: last[1], number: last[2] };
      const past = new PastRequests(host, caller, workspace);
      const found = await past.list(requestFilter(query, host.gateway), before, query.limit + 1);
      const page = pageOf(
        'PastRequestList',
        query,
        found.requests,
        ({ endedAt, gateway, number }) => [endedAt, gateway, number],
        pastRequestView,
      );
      return ok({ ...page, total: found.total, is_more: found.isMore, store_problem: found.problem });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/requests/{id}',
    role: 'viewer',
    scope: 'each',
    summary: 'Return the last request of an id: its times, attempts and outcome',
    response: { type: 'object', schema: PAST_REQUEST },
    async handle(host, { caller, params }) {
      const found = await new PastRequests(host, caller).find(params.id!);
      if (found === undefined) throw unknownRequest(params.id!);
      return ok(pastRequestView(found));
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

type RequestQuery = {
  readonly [Name in Exclude<keyof typeof REQUEST_QUERY, keyof typeof NUMBERS | 'limit'>]?: string | undefined;
} & { readonly [Name in keyof typeof NUMBERS]?: number | undefined };

function requestFilter(query: RequestQuery, gateway: ServedGateway): RequestFilter {
  const { min_duration_ms: duration, min_ttft_ms: ttft, within_s: within } = query;
  const from = query.from === undefined ? undefined : microseconds('from', query.from);
  const since = within === undefined ? undefined : gateway.epochUs + 1000 * gateway.nowMs() - 1e6 * within;
  const filter = {
    endpoint: query.endpoint,
    idPrefix: query.id,
    model: query.model,
    keyId: query.key,
    sloClass: query.class,
    replica: query.replica,
    outcome: query.outcome,
    minTtftUs: ttft === undefined ? undefined : 1000 * ttft,
    minDurationUs: duration === undefined ? undefined : 1000 * duration,
    from: from === undefined || since === undefined ? (from ?? since) : Math.max(from, since),
    to: query.to === undefined ? undefined : microseconds('to', query.to),
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as RequestFilter;
}

/** Of a date, since 1970. */
function microseconds(name: string, date: string): number {
  const ms = /^\d{4}-\d\d-\d\dT/.test(date) ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(ms))
    throw badQuery(name, `'${date}' is not a date with a time`, "give one such as '2030-01-31T12:00:00Z'");
  return 1000 * ms;
}
