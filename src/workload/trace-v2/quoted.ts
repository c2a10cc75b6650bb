/** A text as a field of a CSV file. */
export function quoted(name: string): string {
  return /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}
