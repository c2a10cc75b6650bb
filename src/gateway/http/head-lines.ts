import { STATUS_CODES } from 'node:http';

const statusLines = new Map<number, string>();

export function statusLine(status: number): string {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
    statusLines.set(status, line);
  }
  return line;
}

let second = -1;
let line = '';

/** The `date` header, formatted once per second. */
export function dateLine(nowMs: number): string {
  const now = Math.floor(nowMs / 1000);
  if (now !== second) {
    second = now;
    line = `date: ${new Date(nowMs).toUTCString()}\r\n`;
  }
  return line;
}
