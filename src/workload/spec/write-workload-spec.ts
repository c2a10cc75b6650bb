import { Document, isMap, isPair, isScalar, isSeq, type Node } from 'yaml';
import type { Kind } from '../../kernel/yaml/schema.js';
import { SPEC } from './spec-schema.js';
import type { WorkloadSpec } from './workload-spec.js';

/** Maps no longer than this stand on one line, as people write them. */
const LONGEST_LINE = 100;

/** The specification as YAML, keys in the order of the documentation. Reads back as the same specification. */
export function writeWorkloadSpec(spec: WorkloadSpec): string {
  const document = new Document(ordered(spec, SPEC));
  foldShortMaps(document.contents as Node, true);
  return document.toString({ lineWidth: 0 });
}

function ordered(value: unknown, kind: Kind): unknown {
  if (kind.type === 'list') return (value as unknown[]).map((item) => ordered(item, kind.of));
  if (kind.type !== 'keys') return value;
  const given = value as Record<string, unknown>;
  const names = Object.keys(kind.keys).filter((name) => given[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, ordered(given[name], kind.keys[name]!.kind)]));
}

/** Whether the node may stand inside a line. */
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
