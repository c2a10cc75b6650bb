import { unknownResource } from '../../store/resources/resource-errors.js';
import type { ModelRegistry } from '../models/contract.js';
import { registrySource } from '../models/description/model-source.js';
import { modelFacts } from '../models/model-facts.js';
import { registryOrigin } from '../reconcile/models/registry-origin.js';
import { type ModelRegistrySpec, modelRegistry } from '../resources/kinds/model-registry.js';
import { type ControlHost, type ControlRequest, type ControlRoute, ok } from './control-route.js';
import { boundedNumber } from './query.js';

const MODELS = `/api/v1/workspaces/{workspace}/${modelRegistry.plural}/{name}/models`;
/** The registry is asked with its token: whoever asks sees what that may see. */
const ASKS = { method: 'GET', role: 'operator', scope: 'workspace', kind: modelRegistry } as const;

/** What can be asked of the place that a ModelRegistry stands for. */
export const REGISTRY_ROUTES: readonly ControlRoute[] = [
  {
    ...ASKS,
    path: MODELS,
    summary: 'Lists models that a ModelRegistry has',
    gives: 'object',
    query: { search: 'a part of the name', limit: '1 to 1000, else 100' },
    handle: (host, request) => {
      const limit = boundedNumber(request.query, 'limit', 100, 1, 1000);
      const search = request.query.get('search');
      return asked(host, request, async (registry) => {
        const items = await registry.list({ limit, ...(search === null ? {} : { search }) }, request.signal);
        return { kind: 'ModelList', items };
      });
    },
  },
  {
    ...ASKS,
    path: `${MODELS}/{model}`,
    summary: 'Tells what a model of a ModelRegistry is, without fetching it',
    gives: 'object',
    query: { version: "else the registry's own choice" },
    handle: (host, request) =>
      asked(host, request, async (registry) => {
        const { params, query, signal } = request;
        const model = await registry.resolve(params.model!, query.get('version') ?? undefined, signal);
        const { files, name, revision, version } = model;
        const bytes = files.reduce((sum, { size }) => sum + size, 0);
        const facts = await modelFacts(registrySource(registry, model, signal), name);
        return { kind: 'Model', name, version, revision, bytes, files, ...facts };
      }),
  },
];

async function asked(
  { store }: ControlHost,
  { params }: ControlRequest,
  ask: (registry: ModelRegistry) => Promise<object>,
) {
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
