import { InputError } from '../../kernel/errors.js';
import { badValue } from '../errors.js';

const URL_ACCEPTED = 'a URL such as http://127.0.0.1:8000';
/** Bytes that a header may hold. */
const PRINTABLE = /^[\x20-\x7e]+$/;
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** Headers that the driver sets in every request. */
const TAKEN = new Set(['content-type', 'content-length', 'host', 'connection', 'transfer-encoding', 'x-request-id']);

/** Scheme, host, port and path; without a slash at its end. */
export function readServerUrl(given: string, place: string): string {
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw badValue(place, given, 'is not a URL', URL_ACCEPTED);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw badValue(place, given, 'is not an address of a web server', URL_ACCEPTED);
  }
  // What may be secret is not shown.
  if (url.username !== '' || url.password !== '') {
    throw new InputError('BAD_VALUE', place, 'has a user name or password', 'give --api-key or --header instead');
  }
  if (url.search !== '' || url.hash !== '') throw badValue(place, given, 'has more than a path', URL_ACCEPTED);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** An API key; errors never show it. */
export function readKey(given: string, place: string): string {
  if (given.includes('\n')) throw new InputError('REPEATED_FLAG', place, 'given twice', 'keep one of them');
  if (given.trim() === '' || !PRINTABLE.test(given)) {
    throw new InputError(
      'BAD_VALUE',
      place,
      'is empty or has characters that are not allowed in a key',
      'give an API key',
    );
  }
  return given;
}

/** Headers, one below the other; their values may be secret and are not shown. */
export function readHeaders(given: string, place: string): Record<string, string> {
  const headers: Record<string, string> = {};
  given.split('\n').forEach((line, i) => {
    const at = line.indexOf(':');
    const name = line.slice(0, Math.max(0, at)).trim().toLowerCase();
    const value = line.slice(at + 1).trim();
    const fail = (problem: string, remedy: string) =>
      new InputError('BAD_VALUE', i === 0 ? place : `${place} (number ${i + 1})`, problem, remedy);
    if (!TOKEN.test(name) || !PRINTABLE.test(value)) {
      throw fail('is not a header', "give its name and its value, as in 'x-team: search'");
    }
    if (TAKEN.has(name)) throw fail(`'${name}' is set for every request already`, 'leave it out');
    if (Object.hasOwn(headers, name)) throw fail(`'${name}' is given twice`, 'keep one of them');
    headers[name] = value;
  });
  return headers;
}
