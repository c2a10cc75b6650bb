import { refuseDeepText } from '../control/resources/documents/document-limits.js';
import { invalidField } from '../control/resources/errors.js';
import type { AdminCall } from '../gateway/server/admin-api.js';
import { InputError } from '../kernel/errors.js';
import { readJson } from '../schema/read-json.js';
import type { ApiRoute } from './api-route.js';

/** What messages call the body of a request. */
export const BODY = 'body';

/** What if-match names where a resource is changed. */
export const RESOURCE_VERSION = 'the resource_version';

/** The resource version that a change was made for; undefined when it is for any. */
export function versionOf(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  const match = /^"?([1-9][0-9]{0,15})"?$/.exec(ifMatch);
  if (match === null) {
    throw new InputError('API_HEADER', 'if-match', 'is not a resource version', 'give metadata.resource_version');
  }
  return Number(match[1]);
}

export function jsonObject(body: string, hint: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw invalidField(BODY, 'is not a JSON object', hint);
}

/** Resources, of which one body may hold many. */
const MOST_DOCUMENT_BYTES = 1024 * 1024;
const MOST_JSON_BYTES = 64 * 1024;
const CODES = { invalid: 'API_BODY', unknownKey: 'API_BODY' };

/** The body of a request as its route describes it: checked JSON, or the text of resources. */
export async function readRequestBody({ body }: ApiRoute, call: Pick<AdminCall, 'body'>): Promise<unknown> {
  if (body === undefined) return undefined;
  // Read by the job that it is for, in a thread of its own.
  if (body.type === 'file') return call.body(body.mostBytes);
  const text = await call.body(body.type === 'json' ? MOST_JSON_BYTES : MOST_DOCUMENT_BYTES);
  // Resources are parsed within limits of their own.
  if (body.type === 'resource' || body.type === 'documents') return text;
  refuseDeepText(text, BODY);
  if (body.type !== 'json') return text;
  const isEmpty = text.trim() === '' && body.optional === true;
  const start = `give JSON, as in ${JSON.stringify(body.example)}`;
  const { given, value } = readJson(isEmpty ? '{}' : text, body.schema, CODES, start);
  return body.asGiven === true ? given : value;
}
