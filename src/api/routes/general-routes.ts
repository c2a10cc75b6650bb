import { InvalidResources } from '../../control/resources/errors.js';
import type { ResourceKind } from '../../control/resources/kind.js';
import { findKind, KINDS, kindNames } from '../../control/resources/kinds.js';
import { planText } from '../../control/resources/plan.js';
import { type Draft, type ReadDocuments, readDocuments } from '../../control/resources/read-resources.js';
import type { ControlStore } from '../../control/store/control-store.js';
import { field, flag, text } from '../../schema/fields.js';
import { jsonSchema } from '../../schema/json-schema.js';
import { storeHealth } from '../../store/database/store-health.js';
import { API_KEY } from '../../store/keys/key-record.js';
import type { Store } from '../../store/open-store.js';
import { type Caller, isEnough, roleIn } from '../access/caller.js';
import type { ApiHost } from '../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../api-route.js';
import { checkChanges, rightsOf } from '../changes/change-resource.js';
import { kindNotFound } from '../errors.js';
import { PAGE_QUERY, pageOfAll } from '../pagination.js';
import { BODY } from '../request-parts.js';
import { APPLIED, KIND, KIND_SCHEMA } from '../views/resource-views.js';
import { STORE_HEALTH } from '../views/store-view.js';

/** Operations that are not about one kind of resource. */
export const GENERAL_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/kinds',
    role: 'viewer',
    scope: 'anywhere',
    summary: 'List the kinds of resources',
    query: PAGE_QUERY,
    response: { type: 'list', schema: KIND },
    handle: (_, { query }) =>
      ok(
        pageOfAll(
          'KindList',
          query,
          KINDS.map((kind, i) => ({ kind, i })),
          ({ i }) => [i],
          ({ kind }) => kindView(kind),
        ),
      ),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/kinds/{name}',
    role: 'viewer',
    scope: 'anywhere',
    summary: 'Return a kind of resources with its JSON Schema and an example, for forms and editors',
    response: { type: 'object', schema: KIND_SCHEMA },
    async handle(_, { params }) {
      const kind = findKind(params.name!);
      if (kind === undefined) throw kindNotFound(params.name!, KINDS.map(kindNames));
      return ok({ ...kindView(kind), example: kind.example, schema: await jsonSchema(kind.schema) });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/store',
    role: 'viewer',
    scope: 'global',
    summary: 'Return how the store is: its kind, size and speed, or why it does not respond',
    response: { type: 'object', schema: STORE_HEALTH },
    handle: async ({ store }) => ok(await healthView(store)),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/apply',
    // Each resource is checked as well; the body of a caller that may change nothing is not even read.
    role: 'operator',
    scope: 'each',
    summary: 'Apply all resources of a file, or none of them',
    query: {
      dry_run: field(flag, { default: false, help: 'only report what would change' }),
      workspace: field(text(63), { help: 'of resources that name none' }),
      file: field(text(), { default: BODY, help: 'what messages call the body' }),
    },
    body: { type: 'documents' },
    response: { type: 'object', schema: APPLIED },
    handle: apply,
  }),
];

const kindView = ({ changedBy, kind, plural, scope, shortNames, summary }: ResourceKind) => ({
  ...{ kind, plural, short_names: shortNames, scope, summary, changed_by: changedBy },
});

/** A store that does not respond is a state to show, not an error of the request. */
async function healthView(store: Store) {
  const { address, kind } = store;
  try {
    const { bytes, latencyMs, version } = await storeHealth(store, () => performance.now());
    return { kind, address, version, latency_ms: latencyMs, bytes, problem: null };
  } catch (error) {
    return { kind, address, version: null, latency_ms: null, bytes: null, problem: (error as Error).message };
  }
}

interface ApplyQuery {
  readonly dry_run: boolean;
  readonly workspace?: string | undefined;
  readonly file: string;
}

async function apply(host: ApiHost, { body, caller, query }: ApiRequest<ApplyQuery, string>) {
  const { dry_run: dryRun } = query;
  const read = await readDocuments(body, query.file, query.workspace);
  const areKeys = read.drafts.every(({ kind }) => kind.kind === API_KEY);
  const store = areKeys ? await host.resources() : (await host.control()).store;
  if (read.problems.length > 0) throw new InvalidResources(await allProblems(store, caller, read));
  const { written } = read;
  await checkChanges(host, caller, store, written);
  const applied = await store.apply(caller.name, written, { dryRun, ...rightsOf(caller) });
  const items = applied.map(({ action, differences, resource }) => ({ action, differences, resource }));
  return ok({ kind: 'Applied', dry_run: dryRun, text: planText(applied, { isDryRun: dryRun }), items });
}

/** Also unresolved references of invalid documents, as far as the caller may know what exists. */
async function allProblems(store: ControlStore, caller: Caller, { drafts, problems }: ReadDocuments) {
  // Grants of a key name any workspace: only who may see all of them learns which exist.
  const mayChange = ({ kind: { changedBy, kind, scope }, workspace }: Draft) =>
    isEnough(scope === 'global' || kind === API_KEY ? caller.role : roleIn(caller, workspace), changedBy);
  const more = await store.problemsIn(drafts.filter(mayChange), drafts);
  const places = new Set(problems.map(({ place }) => place));
  return [...problems, ...more.filter(({ place }) => !places.has(place))];
}
