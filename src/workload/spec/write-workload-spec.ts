import { Document, isMap, isPair, isScalar, isSeq, type Node } from 'yaml';
import { entriesOf, itemOf, type Schema } from '../../schema/facts.js';
import { SPEC } from './spec-schema.js';
import type { WorkloadSpec } from './workload-spec.js';

/** Maps up to this length are written on one line. */
const LONGEST_LINE = 100;

/** The specification as YAML, keys in the order of the documentation. Reads back as the same specification. */
export function writeWorkloadSpec(spec: WorkloadSpec): string {
  const document = new Document(ordered(spec, SPEC as Schema));
  foldShortMaps(document.contents as Node, true);
  return document.toString({ lineWidth: 0 });
}

function ordered(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) return value.map((item) => ordered(item, itemOf(schema)!));
  const entries = entriesOf(schema);
  if (entries === null) return value;
  const given = value as Record<string, unknown>;
  const names = Object.keys(entries).filter((name) => given[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, ordered(given[name], entries[name]!)]));
}

/** Whether the node may be written inside a line. */
function foldShortMaps(node: Node | null, isTop = false): boolean {
  if (node === null || isScalar(node)) return true;
  if (isSeq(node)) {
    for (const item of node.items) foldShortMaps(item as Node);
    return false;
  }
  if (!isMap(node)) return false;
  const inner = node.items.map((pair) => isPair(pair) && foldShortMaps(pair.value as Node | null));
  const isShort = inner.every(Boolean) && JSON.stringify(node).length <= LONGEST_LINE;
  node.flow = isShort && !isTop;
  return node.flow;
}
