import type { Column, ResourceKind } from '../../../control/resources/kind.js';
import type { Resource } from '../../../control/resources/resource.js';
import type { Style } from '../../../report/text/style.js';
import { PrintedTable } from './printed-table.js';
import { ageText } from './time-text.js';

export interface TableShape {
  readonly isWide: boolean;
  readonly withWorkspace: boolean;
  /** Adds the change of each row as its first column: for `--watch`, where rows arrive one by one. */
  readonly withChange: boolean;
  readonly style: Style;
}

interface Cell extends Column {
  /** Minimum width, for values that are expected to come. */
  readonly width?: number;
}

interface Shown {
  readonly type?: string;
  readonly resource: Resource;
}

/** Resources of a kind as rows: the columns of the kind between name and age. */
export class ResourceTable {
  readonly #lines: (rows: readonly (readonly string[])[]) => readonly string[];
  readonly #columns: readonly Cell[];
  readonly #isChange: boolean;
  readonly #last = new Map<string, string>();

  constructor(kind: ResourceKind, { isWide, style, withChange, withWorkspace }: TableShape) {
    const phases = withChange ? Math.max(...kind.phases.map(({ length }) => length)) : 0;
    const isOfMany = withWorkspace && kind.scope === 'workspace';
    this.#columns = [
      ...(isOfMany ? [column('WORKSPACE', (it) => it.workspace ?? '')] : []),
      column('NAME', ({ name }) => name),
      ...kind.columns
        .filter(({ wide }) => isWide || wide === undefined)
        .map((one) => (one.title === 'PHASE' ? { ...one, width: phases } : one)),
    ];
    const titles = [
      ...(withChange ? ['CHANGE'] : []),
      ...this.#columns.map(({ title }) => title),
      'AGE',
      ...(isWide ? ['LABELS'] : []),
    ];
    this.#isChange = withChange;
    if (withChange) {
      const least = ['deleting'.length, ...this.#columns.map(({ width }) => width ?? 0)];
      const table = new PrintedTable(titles, style.width, least);
      this.#lines = (rows) => table.lines(rows);
    } else {
      const alignments = titles.map(() => 'left' as const);
      this.#lines = (rows) => style.table([titles, ...rows], alignments, isOfMany ? 2 : 1);
    }
  }

  /** A change of the status that changes no cell has no line. */
  text(seen: readonly Shown[], now: number): string {
    const rows: string[][] = [];
    for (const { resource, type = '' } of seen) {
      const { created_at, labels, uid } = resource.metadata;
      const cells = this.#columns.map((one) => one.value(resource));
      const looks = JSON.stringify(cells);
      if (type === 'status' && this.#last.get(uid!) === looks) continue;
      this.#last.set(uid!, looks);
      rows.push([...(this.#isChange ? [type] : []), ...cells, ageText(created_at, now), labelsText(labels)]);
    }
    return this.#lines(rows)
      .map((line) => `${line}\n`)
      .join('');
  }
}

const column = (title: string, of: (metadata: Resource['metadata']) => string): Cell => ({
  title,
  value: ({ metadata }) => of(metadata),
});

export const labelsText = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
