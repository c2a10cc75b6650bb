import type { ModelRegistry } from '../../control/models/contract.js';
import { registrySource } from '../../control/models/description/model-source.js';
import { modelFacts } from '../../control/models/model-facts.js';
import { registryOrigin } from '../../control/reconcile/models/registry-origin.js';
import { type ModelRegistrySpec, modelRegistry } from '../../control/resources/kinds/model-registry.js';
import { field, text } from '../../schema/fields.js';
import { unknownResource } from '../../store/resources/resource-errors.js';
import type { ApiHost } from '../api-host.js';
import { type ApiRequest, type ApiRoute, defineRoute, ok } from '../api-route.js';
import { MOST_ITEMS, PAGE_QUERY, pageOfAll } from '../pagination.js';
import { MODEL, MODEL_SUMMARY } from '../views/model-views.js';

const MODELS = `/api/v1/workspaces/{workspace}/${modelRegistry.plural}/{name}/models`;
/** The registry is queried with its own token, so that callers see what that token may see. */
const reads = { method: 'GET', role: 'operator', scope: 'workspace', kind: modelRegistry } as const;

/** The models in a ModelRegistry. */
export const REGISTRY_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    ...reads,
    path: MODELS,
    summary: `List models of a ModelRegistry, at most ${MOST_ITEMS} of them`,
    query: { ...PAGE_QUERY, search: field(text(200), { help: 'only models with this in their name' }) },
    response: { type: 'list', schema: MODEL_SUMMARY },
    handle: (host, request) =>
      withRegistry(host, request, async (registry) => {
        const { cursor, limit, search } = request.query;
        // Registries have no pages of their own: a later page is cut from a longer list.
        const asked = cursor === undefined ? Math.min(limit + 1, MOST_ITEMS) : MOST_ITEMS;
        const listed = await registry.list(
          { limit: asked, ...(search === undefined ? {} : { search }) },
          request.signal,
        );
        return pageOfAll(
          'ModelList',
          request.query,
          listed,
          ({ name }) => [name],
          (one) => one,
        );
      }),
  }),
  defineRoute({
    ...reads,
    path: `${MODELS}/{model}`,
    summary: 'Describe a model of a ModelRegistry without downloading it',
    query: { version: field(text(200), { help: "a branch, tag or commit; the registry's default without it" }) },
    response: { type: 'object', schema: MODEL },
    handle: (host, request) =>
      withRegistry(host, request, async (registry) => {
        const { params, query, signal } = request;
        const model = await registry.resolve(params.model!, query.version, signal);
        const { files, name, revision, version } = model;
        const bytes = files.reduce((sum, { size }) => sum + size, 0);
        const facts = await modelFacts(registrySource(registry, model, signal), name);
        return { kind: 'Model', name, version, revision, bytes, files, ...facts };
      }),
  }),
];

async function withRegistry(
  host: ApiHost,
  { params }: Pick<ApiRequest, 'params'>,
  ask: (registry: ModelRegistry) => Promise<object>,
) {
  const { store } = await host.control();
  const ref = { kind: modelRegistry.kind, workspace: params.workspace!, name: params.name! };
  const record = await store.resources.get(ref);
  if (record === null) throw unknownResource(ref);
  const registry = registryOrigin(record, store.secretsOf(record) as ModelRegistrySpec).open();
  try {
    return ok(await ask(registry));
  } finally {
    await registry.close();
  }
}
