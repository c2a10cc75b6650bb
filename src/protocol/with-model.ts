import { QUOTE } from '../kernel/text/ascii.js';
import { OPEN_OBJECT } from './json/json-bytes.js';
import { afterGap, afterValue, lastValueOf, replaced } from './json/json-members.js';

const NAME = Buffer.from('"model"');

/**
 * The body of a request, a JSON object, with another name for its model, and every other byte as it was. A
 * model that has no other name there, or a body that names none, stays as it is.
 */
export function withModel(body: Buffer, renames: ReadonlyMap<string, string>): Buffer {
  const start = afterGap(body, 0);
  if (body[start] !== OPEN_OBJECT) return body;
  const at = lastValueOf(body, start, NAME);
  if (at < 0) return rewritten(body, renames);
  if (body[at] !== QUOTE) return body;
  const end = afterValue(body, at);
  const name = renames.get(JSON.parse(body.toString('utf8', at, end)) as string);
  return name === undefined ? body : replaced(body, at, end - at, asciiJson(name));
}

/** For bodies that write the member name with escapes. */
function rewritten(body: Buffer, renames: ReadonlyMap<string, string>): Buffer {
  const request = JSON.parse(body.toString('utf8')) as { model?: unknown };
  const name = typeof request.model === 'string' ? renames.get(request.model) : undefined;
  return name === undefined ? body : Buffer.from(JSON.stringify({ ...request, model: name }));
}

function asciiJson(text: string): string {
  return JSON.stringify(text).replace(/[^\x20-\x7e]/g, escaped);
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
