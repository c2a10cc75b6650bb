/** User input quoted for one line of output: control characters escaped, long text cut. */
export function shownText(text: string): string {
  const cut = text.length > 60 ? `${text.slice(0, 57)}...` : text;
  return `'${JSON.stringify(cut).slice(1, -1).replaceAll('\\"', '"')}'`;
}
