import type { JsonSchema, ResourceKind } from './kind.js';

/** One field of a spec, for documentation and help. */
export interface Field {
  /** Below `spec`: `engine.name`, `upstreams[].url`, `versions.*.tasks`. */
  readonly path: string;
  /** What it takes, in words. */
  readonly takes: string;
  /** What holds without it: a value, `needed`, or nothing. */
  readonly without: string;
  readonly description: string;
}

/** Every field of a kind's spec, in the order of the schema; parts come before what they are made of. */
export function fieldsOf(kind: ResourceKind): Field[] {
  return fieldsIn(kind.jsonSchema.properties!.spec!, '');
}

function fieldsIn(schema: JsonSchema, above: string): Field[] {
  const { properties = {}, additionalProperties, items } = schema;
  const required = (schema.required as readonly string[] | undefined) ?? [];
  const own = Object.entries(properties).flatMap(([name, inner]) => {
    const path = `${above}${name}`;
    return [fieldOf(path, inner, required.includes(name)), ...below(inner, path)];
  });
  if (items?.properties !== undefined) own.push(...fieldsIn(items, above));
  if (typeof additionalProperties === 'object') own.push(...fieldsIn(additionalProperties, above));
  return own;
}

function below(schema: JsonSchema, path: string): Field[] {
  if (schema.items !== undefined) return fieldsIn(schema.items, `${path}[].`);
  if (typeof schema.additionalProperties === 'object') return fieldsIn(schema.additionalProperties, `${path}.*.`);
  return fieldsIn(schema, `${path}.`);
}

function fieldOf(path: string, schema: JsonSchema, isNeeded: boolean): Field {
  const isSimple = schema.default !== undefined && (typeof schema.default !== 'object' || isEmpty(schema.default));
  return {
    path,
    takes: takenBy(schema),
    without: isNeeded ? 'needed' : isSimple ? JSON.stringify(schema.default) : '',
    description: String(schema.description ?? ''),
  };
}

const isEmpty = (value: unknown) => Object.keys(value as object).length === 0;

function takenBy(schema: JsonSchema): string {
  const { enum: values, items, maximum, minimum, type, writeOnly } = schema;
  if (writeOnly) return 'secret';
  if (Array.isArray(values)) return values.join(', ');
  if (type === 'array') return `list of ${items === undefined ? 'anything' : takenBy(items)}`;
  if (type === 'object') return schema.properties === undefined ? 'map' : 'part';
  if (type === 'integer' || type === 'number') {
    const word = type === 'integer' ? 'whole number' : 'number';
    const has = (bound: unknown) => typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
    if (has(minimum) && has(maximum)) return `${word} from ${minimum} to ${maximum}`;
    return has(minimum) ? `${word} from ${minimum}` : word;
  }
  if (type === 'boolean') return 'true, false';
  return type === 'string' ? 'text' : 'anything';
}
