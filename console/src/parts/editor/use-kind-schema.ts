import { pathOf } from '../../api/client';
import { useGet } from '../../api/queries';
import type { Page, Resource } from '../../api/types';
import { isMap, type JsonSchema } from '../schema-form/json-schema';

export interface Kind {
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'global' | 'workspace';
  readonly summary: string;
  readonly changed_by: 'operator' | 'admin';
}

export interface KindSchema extends Kind {
  readonly example: Readonly<Record<string, unknown>>;
  readonly schema: JsonSchema;
}

/** A kind with its schema. @param plural or its kind; null reads nothing */
export const useKindSchema = (plural: string | null) =>
  useGet<KindSchema>(plural === null ? null : `kinds/${pathOf(plural)}`, { isFixed: true });

/** What a form has: the parts of the metadata that users set, and the spec. */
export function formSchema({ schema }: KindSchema, parameters: JsonSchema | null): JsonSchema {
  const { metadata, spec } = schema.properties ?? {};
  const own = Object.fromEntries(
    ['name', 'workspace', 'labels'].flatMap((key) => {
      const known = metadata?.properties?.[key];
      return known === undefined ? [] : [[key, known]];
    }),
  );
  const variables = spec?.properties?.variables;
  const shown =
    parameters === null || variables === undefined
      ? spec
      : {
          ...spec,
          properties: {
            ...spec!.properties,
            variables: { ...parameters, description: variables.description, default: variables.default },
          },
        };
  return {
    type: 'object',
    required: ['metadata', 'spec'],
    properties: { metadata: { ...metadata, properties: own }, spec: shown ?? {} },
  } as JsonSchema;
}

type Engine = Resource & {
  readonly spec: {
    readonly default_version?: string;
    readonly versions: Readonly<Record<string, { readonly parameters?: JsonSchema }>>;
  };
};

/** The schema of the variables of an endpoint: that of its engine's version. */
export function useEngineParameters(value: unknown): JsonSchema | null {
  const spec = isMap(value) && value.kind === 'Endpoint' && isMap(value.spec) ? value.spec : {};
  const engine = isMap(spec.engine) ? spec.engine : {};
  const name = typeof engine.name === 'string' && /^[a-z0-9-]+$/.test(engine.name) ? engine.name : null;
  const { data } = useGet<Engine>(name === null ? null : `engines/${pathOf(name)}`);
  if (data === undefined) return null;
  const { default_version, versions } = data.spec;
  const version = String(engine.version ?? default_version ?? Object.keys(versions).at(-1));
  return versions[version]?.parameters ?? null;
}

const namesOf = (page: Page<Resource> | undefined) => page?.items.map(({ metadata }) => metadata.name) ?? [];

/** Names that exist, for the fields of an endpoint that name others. */
export function useSuggestions(kind: string, workspace: string): Record<string, readonly string[]> {
  const isEndpoint = kind === 'Endpoint';
  const list = (path: string) => (isEndpoint ? `${path}?limit=200&fields=metadata.name` : null);
  const engines = useGet<Page<Resource>>(list('engines')).data;
  const clusters = useGet<Page<Resource>>(list('clusters')).data;
  const registries = useGet<Page<Resource>>(list(`workspaces/${pathOf(workspace)}/modelregistries`)).data;
  const policies = useGet<Page<{ readonly name: string }>>(isEndpoint ? 'policies?limit=100' : null).data;
  return {
    'spec.engine.name': namesOf(engines),
    'spec.cluster': namesOf(clusters),
    'spec.model.registry': namesOf(registries),
    'spec.routing.policy': policies?.items.map(({ name }) => name) ?? [],
  };
}
