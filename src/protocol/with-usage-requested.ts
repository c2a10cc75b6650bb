import { CLOSE_OBJECT, OPEN_OBJECT } from './json/json-bytes.js';
import { ABSENT, afterGap, afterValue, lastValueOf, MALFORMED, replaced } from './json/json-members.js';

const NAME = Buffer.from('"stream_options"');
const INCLUDE = Buffer.from('"include_usage"');
const WHOLE = '"stream_options":{"include_usage":true}';
const INNER = '"include_usage":true';

/**
 * The body of a streaming request, a JSON object, with `stream_options.include_usage` set and every other byte
 * unchanged; of equal names the last counts. Null when it is set already, or when the body has invalid options.
 * @param hasOptions whether there are stream options: usually there are none, and the body is not searched
 */
export function withUsageRequested(body: Buffer, hasOptions: boolean): Buffer | null {
  const start = afterGap(body, 0);
  if (body[start] !== OPEN_OBJECT) return null;
  const options = hasOptions ? lastValueOf(body, start, NAME) : ABSENT;
  if (options === MALFORMED) return null;
  if (options < 0) return inserted(body, start, WHOLE);
  if (isWord(body, options, 'null')) return replaced(body, options, 4, `{${INNER}}`);
  if (body[options] !== OPEN_OBJECT) return null;
  const include = lastValueOf(body, options, INCLUDE);
  if (include === MALFORMED || (include >= 0 && isWord(body, include, 'true'))) return null;
  if (include < 0) return inserted(body, options, INNER);
  return replaced(body, include, afterValue(body, include) - include, 'true');
}

/** Puts a member first in the object that opens at a place. */
function inserted(body: Buffer, at: number, member: string): Buffer {
  const isEmpty = body[afterGap(body, at + 1)] === CLOSE_OBJECT;
  return replaced(body, at + 1, 0, isEmpty ? member : `${member},`);
}

function isWord(body: Buffer, at: number, word: string): boolean {
  return body.toString('latin1', at, at + word.length) === word;
}
