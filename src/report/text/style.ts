/** How a report marks its parts. */
export interface Style {
  heading(text: string): string;
  faint(text: string): string;
  bar(text: string): string;
}

const asIs = (text: string) => text;
const wrap = (start: number, end: number) => (text: string) => `\x1b[${start}m${text}\x1b[${end}m`;

export function createStyle(colour: boolean): Style {
  if (!colour) return { heading: asIs, faint: asIs, bar: asIs };
  return { heading: wrap(1, 22), faint: wrap(2, 22), bar: wrap(36, 39) };
}
