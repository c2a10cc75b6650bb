import { isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import type { InputError } from '../errors.js';
import { knownNames } from '../nearest-name.js';
import { accepted, type Kind } from './schema.js';
import type { YamlPlaces } from './yaml-places.js';

/** How a kind of file names its mistakes. */
export interface YamlErrors {
  invalid(place: string, problem: string, hint: string): InputError;
  unknownKey(place: string, key: string, known: readonly string[]): InputError;
}

/** The value of a node, checked key by key against what it must be. What is left empty counts as absent. */
export function readSchema(node: Node, kind: Kind, places: YamlPlaces, errors: YamlErrors, path = ''): unknown {
  const resolved = places.resolved(node);
  if (resolved === null)
    throw errors.invalid(places.of(path), `there is no anchor for '${node}'`, 'write &name above it');
  const fail = (problem: string) => errors.invalid(places.of(path), problem, `give ${accepted(kind)}`);
  switch (kind.type) {
    case 'any':
      return resolved.toJS(places.document);
    case 'keys':
    case 'each':
      if (!isMap(resolved)) throw fail('is not a map');
      return readMap(resolved, kind, places, errors, path);
    case 'list':
      if (!isSeq(resolved)) throw fail('is not a list');
      return resolved.items.map((item, i) => readSchema(item as Node, kind.of, places, errors, `${path}[${i}]`));
    default:
      if (!isScalar(resolved)) throw fail('is not a single value');
      return readScalar(resolved.value, String(resolved.source ?? resolved.value), kind, places, errors, path);
  }
}

function readMap(
  map: YAMLMap<unknown, unknown>,
  kind: Extract<Kind, { type: 'keys' | 'each' }>,
  places: YamlPlaces,
  errors: YamlErrors,
  path: string,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
    const name = isScalar(key) ? String(key.value) : '';
    const inner = path === '' ? name : `${path}.${name}`;
    const known = kind.type === 'each' ? kind.of : Object.hasOwn(kind.keys, name) ? kind.keys[name]!.kind : undefined;
    if (known === undefined) {
      const names = kind.type === 'keys' ? Object.keys(kind.keys) : [];
      throw errors.unknownKey(places.at(key.range![0], inner), name, names);
    }
    if (value === null || isBlank(value, known)) continue;
    values[name] = readSchema(value, known, places, errors, inner);
  }
  if (kind.type === 'each') return values;
  for (const [name, { needed, kind: wanted }] of Object.entries(kind.keys)) {
    if (!needed || Object.hasOwn(values, name)) continue;
    throw errors.invalid(places.of(path === '' ? name : `${path}.${name}`), 'is missing', `give ${accepted(wanted)}`);
  }
  return values;
}

function readScalar(
  value: unknown,
  source: string,
  kind: Kind,
  places: YamlPlaces,
  errors: YamlErrors,
  path: string,
): unknown {
  const fail = (problem: string, hint = `give ${accepted(kind)}`) => errors.invalid(places.of(path), problem, hint);
  if (kind.type === 'switch') {
    if (typeof value !== 'boolean') throw fail(`'${source}' is neither true nor false`);
    return value;
  }
  if (kind.type === 'number') {
    if (typeof value !== 'number' || !Number.isFinite(value)) throw fail(`'${source}' is not a number`);
    if (kind.whole && !Number.isInteger(value)) throw fail(`${value} is not a whole number`);
    if (value < kind.min || (kind.above && value === kind.min)) throw fail(`${value} is too small`);
    if (value > kind.max) throw fail(`${value} is too large`);
    return value;
  }
  // What looks like a number or a truth value is a name as well, spelt as it stands.
  const name = typeof value === 'string' ? value : source;
  const known = kind.type === 'text' ? kind.known : undefined;
  if (known !== undefined && !known.includes(name)) {
    throw fail(
      `unknown value '${name}'`,
      knownNames(
        name,
        known.filter((one) => one !== ''),
      ),
    );
  }
  return name;
}

/** Nothing behind the colon, an empty list, or an empty name. */
function isBlank(node: Node, kind: Kind): boolean {
  if (isSeq(node)) return node.items.length === 0;
  if (!isScalar(node)) return false;
  return node.value === null || (node.value === '' && kind.type === 'text' && kind.known === undefined);
}
