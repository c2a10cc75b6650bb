import type * as v from 'valibot';
import type { Facts } from './facts.js';

/** As much of JSON Schema as is walked here. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly writeOnly?: boolean;
  readonly [more: string]: unknown;
}

/** Schemas elsewhere in the same document: others refer to them instead of repeating them. */
export interface SharedSchemas {
  readonly schemas: Readonly<Record<string, v.GenericSchema>>;
  refTo(name: string): string;
}

/**
 * The JSON Schema (2020-12) of files that users write: for editors, OpenAPI and forms. The converter is loaded on first use.
 * @param typeMode 'output' for what is returned, with defaults filled in
 */
export async function jsonSchema(
  schema: v.GenericSchema,
  typeMode: 'input' | 'output' = 'input',
  shared?: SharedSchemas,
): Promise<JsonSchema> {
  const { toJsonSchema } = await import('@valibot/to-json-schema');
  const {
    $schema: _,
    $defs,
    ...made
  } = toJsonSchema(schema, {
    typeMode,
    ...(shared === undefined
      ? {}
      : { definitions: shared.schemas, overrideRef: ({ referenceId }) => shared.refTo(referenceId) }),
    target: 'draft-2020-12',
    // Bounds beyond the exact range of a double are meaningless, and infinity is not JSON.
    overrideAction: ({ jsonSchema, valibotAction }) => {
      const { metadata, requirement, type } = valibotAction as {
        type: string;
        metadata?: Facts;
        requirement?: unknown;
      };
      if (metadata !== undefined) {
        const own = Object.entries(jsonSchema).filter(([key]) => !Object.hasOwn(metadata, key));
        return { ...Object.fromEntries(own), ...shownFacts(metadata) };
      }
      const isBound = ['min_value', 'gt_value', 'max_value', 'finite'].includes(type);
      if (isBound && (type === 'finite' || !Number.isFinite(requirement))) return jsonSchema;
      if (type === 'regex') return { ...jsonSchema, pattern: portable((requirement as RegExp).source) };
      if (type === 'check') return jsonSchema;
      return undefined;
    },
  });
  return (shared === undefined && $defs !== undefined ? { ...made, $defs } : made) as JsonSchema;
}

/** Not every reader of JSON Schema knows classes such as `\\p{Cc}`. */
const portable = (pattern: string) => pattern.replaceAll('\\p{Cc}', '\\u0000-\\u001f\\u007f-\\u009f');

function shownFacts({ help, secret, title }: Facts): Record<string, unknown> {
  return {
    ...(title === undefined ? {} : { title }),
    ...(help === undefined ? {} : { description: help }),
    ...(secret === undefined ? {} : { writeOnly: true, format: 'password' }),
  };
}
