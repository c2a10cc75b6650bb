const ILLEGAL = /[^\x20-\x7e]/g;
const MOST_CHARACTERS = 200;

/** A text made legal as a header value. */
export function legalHeader(text: string): string {
  return text.slice(0, MOST_CHARACTERS).replace(ILLEGAL, '?');
}
