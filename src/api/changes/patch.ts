import { hostileValueProblem } from '../../control/resources/documents/document-limits.js';
import { checkedPatch, patchedDocument } from '../../kernel/json/json-patch.js';
import { JsonPatchError } from '../../kernel/json/json-pointer.js';
import { badPatch } from '../errors.js';
import { BODY } from '../request-parts.js';

/** A change of a document. It returns a new one, and never changes the given one. */
export type Patch = (document: unknown) => unknown;

const MOST_OPERATIONS = 1000;

const MERGE = 'application/merge-patch+json';
const OPERATIONS = 'application/json-patch+json';

/**
 * Reads a JSON merge patch (RFC 7396) or a JSON patch (RFC 6902). Without one of their media types, a list is a JSON patch and an
 * object a merge patch.
 */
export function readPatch(body: string, contentType: string | undefined): Patch {
  let given: unknown;
  try {
    given = JSON.parse(body);
  } catch {
    throw badPatch(BODY, 'is not JSON', 'send a JSON merge patch, or a list of operations');
  }
  const hostile = hostileValueProblem(given, (path) => (path === '' ? BODY : `${BODY} (${path})`));
  if (hostile !== null) throw hostile;
  const type = (contentType ?? '').split(';')[0]!.trim().toLowerCase();
  const isList = Array.isArray(given);
  if (type === OPERATIONS && !isList) throw badPatch(BODY, 'is not a list of operations', `send it as ${MERGE}`);
  if (isList && type !== MERGE) return jsonPatch(given as unknown[]);
  if (typeof given !== 'object' || given === null || isList) {
    throw badPatch(BODY, 'is not a merge patch', `send an object, or a list of operations as ${OPERATIONS}`);
  }
  return (document) => merged(document, given);
}

/** RFC 7396: null deletes a field, an object changes fields, anything else replaces the value. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(Object.hasOwn(result, key) ? result[key] : undefined, value);
  }
  return result;
}

function jsonPatch(operations: readonly unknown[]): Patch {
  if (operations.length > MOST_OPERATIONS) {
    throw badPatch(BODY, `has ${operations.length} operations`, `send at most ${MOST_OPERATIONS}`);
  }
  return (document) => {
    try {
      return patchedDocument(document, checkedPatch(operations));
    } catch (error) {
      if (!(error instanceof JsonPatchError)) throw error;
      const { hint, isMissing, place, problem } = error;
      throw badPatch(`${BODY}${place}`, problem, isMissing ? "see the fields with 'twinyard get -o json'" : hint);
    }
  };
}
