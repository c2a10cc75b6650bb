import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type Pair } from 'yaml';

/** The places of nodes in a YAML file, for messages. */
export class YamlPlaces {
  readonly #file: string;
  readonly #lines: LineCounter;
  readonly document: Document;

  constructor(file: string, lines: LineCounter, document: Document) {
    this.#file = file;
    this.#lines = lines;
    this.document = document;
  }

  /** `spec.yaml:4:12 (clients[2].arrival.cv)`; for a key that is absent, the place of the section it belongs to. */
  of(path: string): string {
    const steps = path.split(/[.[\]]+/).filter((part) => part !== '');
    return this.at(this.offset(steps), path);
  }

  at(offset: number, path = ''): string {
    const { line, col } = this.#lines.linePos(offset);
    return `${this.#file}:${line}:${col}${path === '' ? '' : ` (${path})`}`;
  }

  /** The target of an alias; the node itself otherwise. */
  resolved(node: Node | null): Node | null {
    return isAlias(node) ? (node.resolve(this.document) ?? null) : node;
  }

  /** The position of a value, or of its key where the key itself is the problem. */
  offset(path: readonly PropertyKey[], of: 'unknown-key' | 'invalid' = 'invalid'): number {
    let node = this.document.contents as Node | null;
    let offset = 0;
    for (const step of path) {
      let next: Node | null | undefined;
      if (isMap(node)) {
        const pair = (node.items as Pair<Node, Node | null>[]).find(
          ({ key }) => isScalar(key) && String(key.value) === String(step),
        );
        next = pair?.value;
        if (pair !== undefined) offset = (isScalar(next) && of === 'invalid' ? next : pair.key).range![0];
      } else if (isSeq(node)) {
        next = node.items[Number(step)] as Node | undefined;
        if (next !== undefined) offset = next.range![0];
      }
      if (next === undefined || next === null) break;
      node = this.resolved(next);
    }
    return offset;
  }
}
