import type { Column, ResourceKind } from '../../../control/resources/kind.js';
import type { Resource } from '../../../control/resources/resource.js';
import { PrintedTable } from './printed-table.js';
import { ageText } from './time-text.js';

export interface TableShape {
  readonly isWide: boolean;
  readonly withWorkspace: boolean;
  /** What has happened to each, as its first column: for tables that grow. */
  readonly withChange: boolean;
}

interface Cell extends Column {
  /** How wide it will be, if that is known before. */
  readonly width?: number;
}

interface Shown {
  readonly type?: string;
  readonly resource: Resource;
}

/** Resources of a kind as rows: what their kind shows, between the name and the age. */
export class ResourceTable {
  readonly #table: PrintedTable;
  readonly #columns: readonly Cell[];
  readonly #isChange: boolean;
  readonly #last = new Map<string, string>();

  constructor(kind: ResourceKind, { isWide, withChange, withWorkspace }: TableShape) {
    const phases = withChange ? Math.max(...kind.phases.map(({ length }) => length)) : 0;
    this.#columns = [
      ...(withWorkspace && kind.scope === 'workspace' ? [column('WORKSPACE', (it) => it.workspace ?? '')] : []),
      column('NAME', ({ name }) => name),
      ...kind.columns
        .filter(({ wide }) => isWide || wide === undefined)
        .map((one) => (one.title === 'PHASE' ? { ...one, width: phases } : one)),
    ];
    this.#table = new PrintedTable(
      [
        ...(withChange ? ['CHANGE'] : []),
        ...this.#columns.map(({ title }) => title),
        'AGE',
        ...(isWide ? ['LABELS'] : []),
      ],
      [...(withChange ? ['deleting'.length] : []), ...this.#columns.map(({ width }) => width ?? 0)],
    );
    this.#isChange = withChange;
  }

  /** Of a status that looks as it did before, nothing is told. */
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
    return this.#table
      .lines(rows)
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
