import { ApiError } from './errors.js';
import type { JsonObject } from './json/json-body.js';

/** The parts of a form that the gateway reads. */
export interface FormData {
  /** Fields that are text, by name. */
  readonly fields: JsonObject;
  /** The first file; null without one. */
  readonly file: Buffer | null;
}

const BOUNDARY = /^multipart\/form-data\s*;\s*boundary=(?:"([^"\\]{1,70})"|([^\s";,]{1,70}))\s*$/i;
const NAME = /^form-data\s*;\s*name="([^"\\\r\n]{1,100})"(?:\s*;\s*filename="([^"\r\n]*)")?\s*$/i;
const MOST_PARTS = 64;
const MOST_HEAD = 4096;
/** Longer texts, such as a prompt, are not read: only their part is skipped. */
const MOST_TEXT = 4096;
const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Reads a multipart/form-data body, strictly: where two readers could see different fields it is refused, so that a
 * replica cannot read another model than the gateway has checked. Throws an ApiError for what is refused.
 */
export function readFormData(bytes: Buffer, contentType: string | undefined): FormData {
  const match = BOUNDARY.exec(contentType ?? '');
  if (match === null) throw malformed('multipart/form-data with a boundary is required');
  const open = Buffer.from(`--${match[1] ?? match[2]}`, 'latin1');
  const delimiter = Buffer.concat([Buffer.from('\r\n'), open]);
  const fields: JsonObject = {};
  const seen = new Set<string>();
  let file: Buffer | null = null;
  if (bytes.indexOf(open) !== 0) throw malformed('it does not begin with its boundary');
  let at = open.length;
  for (let parts = 0; parts <= MOST_PARTS; parts++) {
    const mark = bytes.toString('latin1', at, at + 2);
    if (mark === '--') return { fields, file };
    if (mark !== '\r\n') throw malformed('a boundary does not end its line');
    const headEnd = bytes.indexOf(HEAD_END, at);
    if (headEnd < 0 || headEnd - at > MOST_HEAD) throw malformed('a part has no head');
    const from = headEnd + HEAD_END.length;
    const end = bytes.indexOf(delimiter, from);
    if (end < 0) throw malformed('its last boundary is missing');
    const head = bytes.subarray(at + 2, headEnd);
    if (head.includes(open)) throw malformed('a boundary is in the head of a part');
    const { isFile, name } = readHead(head.toString('utf8'));
    if (isFile) file ??= bytes.subarray(from, end);
    else {
      if (seen.has(name.toLowerCase()) && !name.endsWith('[]')) throw malformed(`'${name}' is there twice`);
      seen.add(name.toLowerCase());
      if (end - from <= MOST_TEXT) fields[name] = bytes.toString('utf8', from, end);
    }
    at = end + delimiter.length;
  }
  throw malformed(`it has more than ${MOST_PARTS} parts`);
}

function readHead(head: string): { name: string; isFile: boolean } {
  let found: RegExpExecArray | null = null;
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0 || /^\s|[\r\n\0]/.test(line)) throw malformed('the head of a part is not readable');
    const header = line.slice(0, colon).toLowerCase();
    if (header === 'content-transfer-encoding') throw malformed('a part has a transfer encoding');
    if (header !== 'content-disposition') continue;
    if (found !== null) throw malformed('a part has two names');
    found = NAME.exec(line.slice(colon + 1).trim());
    if (found === null) throw malformed('the name of a part is not readable');
  }
  if (found === null) throw malformed('a part has no name');
  return { name: found[1]!, isFile: found[2] !== undefined };
}

function malformed(problem: string): ApiError {
  return new ApiError('malformed', `The body is not a valid form: ${problem}.`);
}
