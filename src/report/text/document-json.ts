/** A result document as printed: two spaces of indent, a newline at the end. */
export function documentJson(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
