import { decimal, wholeNumber } from '../../report/text/format-number.js';
import { createStyle, type TextOptions } from '../../report/text/style.js';
import type { UsageDimension } from '../../store/usage/usage-record.js';
import { USAGE_COLUMNS, type UsageView } from '../../store/usage/usage-view.js';

/** Usage with the names of keys, and a total below if there is more than one row. */
export function usageTable(
  views: readonly UsageView[],
  by: readonly UsageDimension[],
  names: ReadonlyMap<string, string>,
  options: TextOptions,
): string {
  const called = (view: UsageView) =>
    by.map((dimension) => (dimension === 'key' ? keyName(String(view.key), names) : String(view[dimension])));
  const counts = (view: UsageView) =>
    USAGE_COLUMNS.map((column) => (column === 'dollars' ? dollars : wholeNumber)(Number(view[column])));
  const rows = views.map((view) => [...called(view), ...counts(view)]);
  if (views.length > 1 && by.length > 0) {
    const total = Object.fromEntries(
      USAGE_COLUMNS.map((column) => [column, views.reduce((sum, view) => sum + Number(view[column]), 0)]),
    );
    rows.push([...by.map((_, i) => (i === 0 ? 'total' : '')), ...counts(total)]);
  }
  const head = [...by, ...USAGE_COLUMNS.map((column) => column.replaceAll('_', ' '))];
  const alignments = head.map((_, i) => (i < by.length ? ('left' as const) : ('right' as const)));
  return `${createStyle(options)
    .table([head, ...rows], alignments, by.length)
    .join('\n')}\n`;
}

/** Cents are enough where there are dollars. */
function dollars(value: number): string {
  return decimal(value, value >= 1 ? 2 : 6);
}

/** Requests without a key are counted under the empty one. */
function keyName(id: string, names: ReadonlyMap<string, string>): string {
  if (id === '') return '(none)';
  const name = names.get(id);
  return name === undefined ? id : `${id} (${name})`;
}
