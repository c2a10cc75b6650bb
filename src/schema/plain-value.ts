import { isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import { entriesOf, itemOf, type Schema, typeOf } from './facts.js';
import type { YamlPlaces } from './yaml-places.js';

/**
 * A YAML node as plain data, read with its schema in mind: what is left empty counts as absent, and what looks like a number is
 * text where text is expected, spelt as it stands.
 * @param noAnchor reports an alias without its anchor
 */
export function plainValue(
  node: Node,
  schema: Schema | null,
  places: YamlPlaces,
  noAnchor: (node: Node) => Error,
): unknown {
  const resolved = places.resolved(node);
  if (resolved === null) throw noAnchor(node);
  if (isMap(resolved)) {
    const entries = schema === null ? null : entriesOf(schema);
    const item = schema === null || entries !== null ? null : itemOf(schema);
    const values: [string, unknown][] = [];
    for (const { key, value } of resolved.items as Pair<Node, Node | null>[]) {
      const name = isScalar(key) ? String(key.value) : '';
      const inner = entries === null ? item : Object.hasOwn(entries, name) ? entries[name]! : null;
      const isKnown = entries === null || inner !== null;
      if (isKnown && (value === null || isBlank(value, inner))) continue;
      values.push([name, value === null ? null : plainValue(value, inner, places, noAnchor)]);
    }
    return Object.fromEntries(values);
  }
  if (isSeq(resolved)) {
    const item = schema === null ? null : itemOf(schema);
    return resolved.items.map((one) => plainValue(one as Node, item, places, noAnchor));
  }
  if (!isScalar(resolved)) return resolved.toJS(places.document);
  const { value } = resolved;
  if (schema === null || typeof value === 'string' || value === null) return value;
  const isText = ['string', 'picklist'].includes(typeOf(schema));
  return isText ? String(resolved.source ?? value) : value;
}

/** Nothing after the colon, an empty list, or empty text. */
function isBlank(node: Node, schema: Schema | null): boolean {
  if (isSeq(node)) return node.items.length === 0;
  if (!isScalar(node)) return false;
  return node.value === null || (node.value === '' && schema !== null && typeOf(schema) === 'string');
}
