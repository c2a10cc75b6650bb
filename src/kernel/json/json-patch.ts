import { isDeepStrictEqual } from 'node:util';
import { addAt, JsonPatchError, pointerSteps, removeAt, replaceAt, valueAt } from './json-pointer.js';

/** An operation of RFC 6902 that has the members it needs. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string };

export const PATCH_OPERATIONS = ['add', 'remove', 'replace', 'move', 'copy', 'test'] as const;

/** Characters of all values that one patch copies, as JSON: copies of copies would grow without end. */
const MOST_COPIED = 64 * 1024;

/** Checks operations without a document. Throws a `JsonPatchError` for the first one that no document could take. */
export function checkedPatch(operations: readonly unknown[]): readonly PatchOperation[] {
  for (const [i, given] of operations.entries()) {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      const hint = 'write {"op": "replace", "path": "/spec/replicas", "value": 3}';
      throw new JsonPatchError(`[${i}]`, 'is not an operation', hint);
    }
    const { from, op, path } = given as Readonly<Record<string, unknown>>;
    const steps = pointerSteps(path, `[${i}].path`);
    if (!(PATCH_OPERATIONS as readonly unknown[]).includes(op)) {
      throw new JsonPatchError(`[${i}].op`, 'is not known', 'give add, remove, replace, move, copy or test');
    }
    if (op === 'move' || op === 'copy') {
      const source = pointerSteps(from, `[${i}].from`);
      const isInside = steps.length > source.length && source.every((step, at) => step === steps[at]);
      if (op === 'move' && isInside) {
        throw new JsonPatchError(`[${i}].path`, 'is inside of from', 'move it elsewhere');
      }
    } else if (op !== 'remove' && !Object.hasOwn(given, 'value')) {
      throw new JsonPatchError(`[${i}].value`, 'is missing', 'give one');
    }
  }
  return operations as readonly PatchOperation[];
}

/** A document with all operations applied, or a `JsonPatchError`. The given one is not changed. */
export function patchedDocument(document: unknown, operations: readonly PatchOperation[]): unknown {
  let result: unknown = structuredClone(document);
  let copied = 0;
  for (const [i, operation] of operations.entries()) {
    const at = `[${i}].path`;
    const steps = pointerSteps(operation.path, at);
    switch (operation.op) {
      case 'add':
        result = addAt(result, steps, structuredClone(operation.value), at);
        break;
      case 'replace':
        result = replaceAt(result, steps, structuredClone(operation.value), at);
        break;
      case 'remove':
        removeAt(result, steps, at);
        break;
      case 'test':
        if (!isDeepStrictEqual(valueAt(result, steps, at), operation.value)) {
          throw new JsonPatchError(`[${i}].value`, 'differs from the value there', 'read the document again');
        }
        break;
      default: {
        const source = pointerSteps(operation.from, `[${i}].from`);
        const found = valueAt(result, source, `[${i}].from`);
        if (operation.op === 'copy') copied += JSON.stringify(found).length;
        else removeAt(result, source, `[${i}].from`);
        if (copied > MOST_COPIED) throw new JsonPatchError(`[${i}]`, 'copies too much', 'give a smaller patch');
        result = addAt(result, steps, operation.op === 'copy' ? structuredClone(found) : found, at);
      }
    }
  }
  return result;
}
