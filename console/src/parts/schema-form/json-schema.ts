/** As much of JSON Schema as forms are made from. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly writeOnly?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

export type Path = readonly (string | number)[];

/** How a value is entered. `json`: a schema without a simpler form. */
export type Control = 'text' | 'number' | 'boolean' | 'choice' | 'list' | 'object' | 'json';

/** The schema of a value that is given: null as an alternative only says that it may be left out. */
export function givenSchema(schema: JsonSchema): JsonSchema {
  const alternatives = schema.anyOf ?? schema.oneOf;
  const given = alternatives?.filter(({ type }) => type !== 'null');
  if (given?.length !== 1) return schema;
  const { anyOf: _, oneOf: __, ...rest } = schema;
  return { ...given[0]!, ...rest };
}

export function controlOf(schema: JsonSchema): Control {
  if (schema.enum !== undefined || schema.const !== undefined) return 'choice';
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type;
  switch (type) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return schema.items === undefined ? 'json' : 'list';
    case 'object':
      return 'object';
    default:
      return 'json';
  }
}

/** The values that a choice offers. */
export const choicesOf = (schema: JsonSchema): readonly unknown[] => schema.enum ?? [schema.const];

/** The schema of the entries of a map whose keys the user chooses; null where every key is known. */
export function entrySchema({ additionalProperties, properties, type }: JsonSchema): JsonSchema | null {
  if (typeof additionalProperties === 'object') return additionalProperties;
  const isOpen = additionalProperties === true || (additionalProperties === undefined && properties === undefined);
  return isOpen && type === 'object' ? {} : null;
}

/** What a new entry of a list or a map starts as. */
export function firstValue(schema: JsonSchema): unknown {
  const given = givenSchema(schema);
  if (given.default !== undefined) return given.default;
  switch (controlOf(given)) {
    case 'choice':
      return choicesOf(given)[0];
    case 'number':
      return given.minimum ?? (given.exclusiveMinimum ?? 0) + (given.exclusiveMinimum === undefined ? 0 : 1);
    case 'boolean':
      return false;
    case 'list':
      return [];
    case 'object':
      return Object.fromEntries((given.required ?? []).map((key) => [key, firstValue(given.properties?.[key] ?? {})]));
    default:
      return '';
  }
}

export const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value says no more than the defaults of its schema. */
export function isDefault(schema: JsonSchema, value: unknown): boolean {
  if (value === undefined) return true;
  const { properties } = givenSchema(schema);
  if (isMap(value) && properties !== undefined) {
    return Object.entries(value).every(
      ([key, one]) => properties[key] !== undefined && isDefault(properties[key], one),
    );
  }
  return JSON.stringify(value) === JSON.stringify(schema.default);
}

/** A value with one part changed; undefined takes the part out. */
export function changedPart(value: unknown, [key, ...rest]: Path, next: unknown): unknown {
  if (key === undefined) return next;
  if (typeof key === 'number' || Array.isArray(value)) {
    const list = Array.isArray(value) ? value : [];
    return list.map((one, i) => (i === key ? changedPart(one, rest, next) : one));
  }
  const map = isMap(value) ? value : {};
  const part = changedPart(map[key], rest, next);
  const { [key]: _, ...others } = map;
  return part === undefined ? others : { ...map, [key]: part };
}
