/** What a person typed, quoted and safe to put on one line: control characters escaped, long text cut. */
export function shownText(text: string): string {
  const cut = text.length > 60 ? `${text.slice(0, 57)}...` : text;
  return `'${JSON.stringify(cut).slice(1, -1).replaceAll('\\"', '"')}'`;
}
