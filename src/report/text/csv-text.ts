/** Rows as comma-separated values, for spreadsheets and notebooks. */
export function csvText(rows: readonly (readonly unknown[])[]): string {
  return rows.map((row) => `${row.map((cell) => quoted(String(cell))).join(',')}\n`).join('');
}

/** A cell that starts like a formula stays text in spreadsheets. */
function quoted(cell: string): string {
  const safe = /^[=+@]|^-(?![\d.])/.test(cell) ? `'${cell}` : cell;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
