import { invalidField } from '../control/resources/errors.js';
import { InputError } from '../kernel/errors.js';

/** What messages call the body of a request. */
export const BODY = 'body';

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
