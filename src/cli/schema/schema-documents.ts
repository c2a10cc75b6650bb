import type * as v from 'valibot';
import type { Schema } from '../../schema/facts.js';
import type { JsonSchema } from '../../schema/json-schema.js';

/** A format of files that users write. */
export interface FileFormat {
  readonly name: string;
  readonly summary: string;
  /** The schema of a file; several where it is one of them. Loaded on demand. */
  schemas(): Promise<readonly Schema[]>;
}

/** Every format with a JSON Schema. A new one is an entry here. */
export const FILE_FORMATS: readonly FileFormat[] = [
  {
    name: 'config',
    summary: 'configuration of the gateway: twinyard.yaml, for serve --config',
    schemas: async () => [(await import('../../gateway/config/config-schema.js')).GATEWAY_SCHEMA as Schema],
  },
  {
    name: 'resources',
    summary: 'resources of the control plane: Endpoint, Engine, ApiKey and others, for apply',
    schemas: async () => (await import('../../control/resources/kinds.js')).KINDS.map(({ schema }) => schema as Schema),
  },
  {
    name: 'workload',
    summary: 'workload specification, for run --workload-spec',
    schemas: async () => [(await import('../../workload/spec/spec-schema.js')).SPEC as Schema],
  },
  {
    name: 'experiment',
    summary: 'experiment: kind Sweep, Tune or Plan, for the commands of these names',
    async schemas() {
      const [{ sweepSchema }, { experimentSchema }, { TUNE_FILE }, { PLAN_FILE }] = await Promise.all([
        import('../sweep/sweep-file.js'),
        import('../compare/experiment-file.js'),
        import('../tune/tune-flags.js'),
        import('../plan/plan-flags.js'),
      ]);
      return Promise.all([sweepSchema(), experimentSchema(TUNE_FILE), experimentSchema(PLAN_FILE)]);
    },
  },
  {
    name: 'variant',
    summary: 'variant of a comparison, for compare --config',
    async schemas() {
      const [{ variantFlags }, { variantSchema }] = await Promise.all([
        import('../compare/compare-flags.js'),
        import('../compare/variant-schema.js'),
      ]);
      return [await variantSchema(variantFlags)];
    },
  },
  {
    name: 'prices',
    summary: 'prices of GPUs, for plan --prices',
    schemas: async () => [(await import('../../experiment/plan/read-prices.js')).PRICES_SCHEMA as Schema],
  },
  {
    name: 'policy',
    summary: 'policy file, for run --policy-config',
    schemas: async () => [(await import('../../policy/bundle/policy-schema.js')).POLICY_SCHEMA as Schema],
  },
];

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** The JSON Schema of a format, as `twinyard schema` prints it and the package ships it. */
export async function schemaDocument({ schemas, summary }: FileFormat): Promise<JsonSchema> {
  const { jsonSchema } = await import('../../schema/json-schema.js');
  const made = await Promise.all((await schemas()).map((one) => jsonSchema(one as v.GenericSchema)));
  const all = made.map(withEditorKey);
  return { $schema: DIALECT, description: summary, ...(all.length === 1 ? all[0] : { oneOf: all }) };
}

/** Files may name their schema. */
function withEditorKey(schema: JsonSchema): JsonSchema {
  const $schema = { type: 'string', description: 'JSON Schema of the file, for editors' };
  return { ...schema, properties: { $schema, ...schema.properties } };
}

/** Every document by its file name in the package. */
export async function schemaFiles(): Promise<Map<string, string>> {
  const files = FILE_FORMATS.map(async (format): Promise<[string, string]> => {
    return [`${format.name}.json`, schemaText(await schemaDocument(format))];
  });
  return new Map(await Promise.all(files));
}

export const schemaText = (document: JsonSchema) => `${JSON.stringify(document, null, 2)}\n`;
