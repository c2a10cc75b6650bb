import { isHostPath } from './host-path.js';

type Schema = Readonly<Record<string, unknown>>;

/** A variable that only an admin may set. */
export interface MarkedVariable {
  /** Below the variables: `.kv_transfer_config`, `.draft.model`. */
  readonly path: string;
  /** What setting it does: 'runs Python code of the model's repository'. */
  readonly reason: string;
}

const PATH_REASON = 'names a path of the machine';
const DEEPEST = 50;

/**
 * The variables that the schema of an engine marks: `x-needs-admin` with its reason, and `x-host-path` where the value is a path. One
 * that is false or null switches nothing on. A mark below `properties`, `items` or in a branch of `anyOf` holds for that part.
 */
export function markedVariables(schema: Schema, variables: unknown): MarkedVariable[] {
  const found = new Map<string, MarkedVariable>();
  const visit = (part: unknown, value: unknown, path: string, depth: number): void => {
    if (!isMap(part) || value === undefined || value === false || value === null || depth > DEEPEST) return;
    const reason = part['x-needs-admin'];
    if (reason !== undefined && reason !== false && hasType(part.type, value)) {
      found.set(path, { path, reason: typeof reason === 'string' ? reason : 'loads code' });
    }
    if (part['x-host-path'] === true && namesPath(value)) found.set(path, { path, reason: PATH_REASON });
    const again = (other: unknown) => visit(other, value, path, depth + 1);
    for (const key of ['anyOf', 'oneOf', 'allOf']) if (Array.isArray(part[key])) part[key].forEach(again);
    for (const key of ['if', 'then', 'else']) again(part[key]);
    if (typeof part.$ref === 'string') again(referred(schema, part.$ref));
    if (Array.isArray(value)) {
      const items = Array.isArray(part.items) ? part.items : null;
      value.forEach((one, i) => {
        visit(items === null ? part.items : (items[i] ?? part.additionalItems), one, `${path}[${i}]`, depth + 1);
        if (Array.isArray(part.prefixItems)) visit(part.prefixItems[i], one, `${path}[${i}]`, depth + 1);
      });
    } else if (isMap(value)) {
      for (const [key, one] of Object.entries(value)) visit(memberSchema(part, key), one, `${path}.${key}`, depth + 1);
    }
  };
  visit(schema, variables, '', 0);
  return [...found.values()];
}

/** The schema of a member: its own, else that of its pattern, else that of all others. */
function memberSchema(part: Schema, key: string): unknown {
  if (isMap(part.properties) && Object.hasOwn(part.properties, key)) return part.properties[key];
  if (isMap(part.patternProperties)) {
    const match = Object.entries(part.patternProperties).find(([pattern]) => new RegExp(pattern, 'u').test(key));
    if (match !== undefined) return match[1];
  }
  return part.additionalProperties;
}

/** The part of a schema that `#/$defs/name` names. */
function referred(schema: Schema, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined;
  let part: unknown = schema;
  for (const step of ref.slice(1).split('/').slice(1)) {
    if (!isMap(part)) return undefined;
    part = part[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return part;
}

/** A mark in a branch for maps does not hold for a number. */
function hasType(type: unknown, value: unknown): boolean {
  if (type === undefined) return true;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const is = Array.isArray(value) ? 'array' : typeof value;
  return types.includes(is) || (is === 'number' && types.includes('integer'));
}

/** Any text inside: adapters are given as 'name=path' and as maps. */
function namesPath(value: unknown): boolean {
  if (typeof value === 'string') return isHostPath(value) || isHostPath(value.slice(value.indexOf('=') + 1));
  if (Array.isArray(value)) return value.some(namesPath);
  return isMap(value) && Object.values(value).some(namesPath);
}

const isMap = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);
