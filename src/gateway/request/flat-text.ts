/** V8 copies shorter parts of a text; a longer part keeps the whole text in memory. */
const LEAST_SHARED = 13;

/** The same text by itself: for values that outlive the head or the body that they come from. */
export function flatText(text: string): string {
  // The joined text is a new one, and is what the part refers to.
  return text.length < LEAST_SHARED ? text : ` ${text}`.slice(1);
}
