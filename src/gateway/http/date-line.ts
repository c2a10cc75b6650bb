let second = -1;
let line = '';

/** When a response was made, as a header; one text for all answers of a second. */
export function dateLine(nowMs: number): string {
  const now = Math.floor(nowMs / 1000);
  if (now !== second) {
    second = now;
    line = `date: ${new Date(nowMs).toUTCString()}\r\n`;
  }
  return line;
}
