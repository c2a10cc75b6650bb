import { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/text/nearest-name.js';
import { shownRef } from '../resources/resource-errors.js';
import type { ResourceRef } from '../resources/resource-record.js';

/** What can be wrong with an API key. Codes are stable and start with KEY_. */

export const revokedKey = (ref: ResourceRef) =>
  new InputError('KEY_REVOKED', shownRef(ref), 'is revoked', 'create a new key');

export const unknownClass = (place: string, name: string, known: readonly string[]) =>
  new InputError('KEY_CLASS', place, `no policy defines the class '${name}'`, knownNames(name, known));
