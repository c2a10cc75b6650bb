import { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/nearest-name.js';

/** What can be wrong with an API key. Codes are stable and start with KEY_. */

/** What was given for an id or a name may be a secret, or most of one: that is not repeated. */
const keyPlace = (called: string) => (/^(?!ty_)[^\p{Cc}]{1,40}$/u.test(called) ? `key '${called}'` : 'key');

export const unknownKey = (id: string) =>
  new InputError('KEY_UNKNOWN', keyPlace(id), 'does not exist', "'twinyard keys list' shows those that do");

export const ambiguousKey = (name: string, ids: readonly string[]) =>
  new InputError('KEY_AMBIGUOUS', keyPlace(name), `${ids.length} have this name`, `give an id: ${ids.join(', ')}`);

export const revokedKey = (id: string) =>
  new InputError('KEY_REVOKED', keyPlace(id), 'is revoked and cannot be used again', 'create a new one');

export const unknownClass = (place: string, name: string, known: readonly string[]) =>
  new InputError('KEY_INVALID', place, `no policy defines the class '${name}'`, knownNames(name, known));
