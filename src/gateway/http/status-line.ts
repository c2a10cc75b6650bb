import { STATUS_CODES } from 'node:http';

const lines = new Map<number, string>();

/** The first line of a response. */
export function statusLine(status: number): string {
  let line = lines.get(status);
  if (line === undefined) {
    line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`;
    lines.set(status, line);
  }
  return line;
}
