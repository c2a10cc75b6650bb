/** Longer lines are cut, in characters. */
const LONGEST = 4096;

/** Removes known secrets from a line. */
export type Scrub = (line: string) => string;

/** A line as a terminal shows it: of a progress line that overwrites itself, the last state; cut to a maximum; without secrets. */
export function shownLine(bytes: Buffer, scrub: Scrub): string {
  const text = bytes.toString('utf8').replace(/\r+$/, '');
  return scrub(text.slice(text.lastIndexOf('\r') + 1).slice(0, LONGEST));
}
