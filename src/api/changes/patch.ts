import { isDeepStrictEqual } from 'node:util';
import { hostileValueProblem } from '../../control/resources/documents/document-limits.js';
import { badPatch } from '../errors.js';
import { BODY } from '../request-parts.js';
import { addAt, pointerSteps, removeAt, replaceAt, valueAt } from './json-pointer.js';

/** A change of a document. It returns a new one, and never changes the given one. */
export type Patch = (document: unknown) => unknown;

const MOST_OPERATIONS = 1000;
/** Characters of all values that one patch copies, as JSON: copies of copies would grow without end. */
const MOST_COPIED = 64 * 1024;

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

interface Operation {
  readonly op?: unknown;
  readonly path?: unknown;
  readonly from?: unknown;
  readonly value?: unknown;
}

function jsonPatch(operations: readonly unknown[]): Patch {
  if (operations.length > MOST_OPERATIONS) {
    throw badPatch(BODY, `has ${operations.length} operations`, `send at most ${MOST_OPERATIONS}`);
  }
  return (document) => {
    let result: unknown = structuredClone(document);
    let copied = 0;
    for (const [i, operation] of operations.entries()) {
      const place = `${BODY}[${i}]`;
      if (typeof operation !== 'object' || operation === null) {
        throw badPatch(place, 'is not an operation', 'write {"op": "replace", "path": "/spec/replicas", "value": 3}');
      }
      const { from, op, path, value } = operation as Operation;
      const steps = pointerSteps(path, `${place}.path`);
      const source = op === 'move' || op === 'copy' ? pointerSteps(from, `${place}.from`) : [];
      const needsValue = op === 'add' || op === 'replace' || op === 'test';
      if (needsValue && !Object.hasOwn(operation, 'value')) throw badPatch(`${place}.value`, 'is missing', 'give one');
      switch (op) {
        case 'add':
          result = addAt(result, steps, structuredClone(value), `${place}.path`);
          break;
        case 'replace':
          result = replaceAt(result, steps, structuredClone(value), `${place}.path`);
          break;
        case 'remove':
          removeAt(result, steps, `${place}.path`);
          break;
        case 'move': {
          const moved = valueAt(result, source, `${place}.from`);
          if (steps.length > source.length && source.every((step, at) => step === steps[at])) {
            throw badPatch(`${place}.path`, 'is inside of from', 'move it elsewhere');
          }
          removeAt(result, source, `${place}.from`);
          result = addAt(result, steps, moved, `${place}.path`);
          break;
        }
        case 'copy': {
          const original = valueAt(result, source, `${place}.from`);
          copied += JSON.stringify(original).length;
          if (copied > MOST_COPIED) throw badPatch(place, 'copies too much', 'send a smaller patch');
          result = addAt(result, steps, structuredClone(original), `${place}.path`);
          break;
        }
        case 'test':
          if (!isDeepStrictEqual(valueAt(result, steps, `${place}.path`), value)) {
            throw badPatch(`${place}.value`, 'differs from the value there', 'get the resource again');
          }
          break;
        default:
          throw badPatch(`${place}.op`, 'is not known', 'give add, remove, replace, move, copy or test');
      }
    }
    return result;
  };
}
