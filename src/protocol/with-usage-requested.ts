import { MOST_PARSED, type ScannedBody } from './body/scanned-body.js';
import { CLOSE_OBJECT, OPEN_OBJECT } from './json/json-bytes.js';
import { afterGap, afterValue, lastValueOf, replaced } from './json/json-members.js';

const INCLUDE = Buffer.from('"include_usage"');
const WHOLE = '"stream_options":{"include_usage":true}';
const INNER = '"include_usage":true';

/**
 * The body of a streaming request with `stream_options.include_usage` set and every other byte unchanged; of equal
 * names the last counts. Null when it is set already, or when the body has invalid options.
 */
export function withUsageRequested(body: ScannedBody): ScannedBody | null {
  const { bytes } = body;
  const start = afterGap(bytes, 0);
  const options = body.begin('stream_options');
  if (body.end('stream_options') - options > MOST_PARSED) return null;
  const changed = options < 0 ? inserted(bytes, start, WHOLE) : withOption(bytes, options);
  return changed === null ? null : body.moved(changed, Math.max(start, options));
}

function withOption(bytes: Buffer, options: number): Buffer | null {
  if (isWord(bytes, options, 'null')) return replaced(bytes, options, 4, `{${INNER}}`);
  if (bytes[options] !== OPEN_OBJECT) return null;
  const include = lastValueOf(bytes, options, INCLUDE);
  if (include >= 0 && isWord(bytes, include, 'true')) return null;
  if (include < 0) return inserted(bytes, options, INNER);
  return replaced(bytes, include, afterValue(bytes, include) - include, 'true');
}

/** Puts a member first in the object that opens at a place. */
function inserted(body: Buffer, at: number, member: string): Buffer {
  const isEmpty = body[afterGap(body, at + 1)] === CLOSE_OBJECT;
  return replaced(body, at + 1, 0, isEmpty ? member : `${member},`);
}

function isWord(body: Buffer, at: number, word: string): boolean {
  return body.toString('latin1', at, at + word.length) === word;
}
