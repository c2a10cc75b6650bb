import { InputError, RunError } from '../kernel/errors.js';
import { knownNames } from '../kernel/nearest-name.js';

/**
 * What can be wrong with a store. Codes are stable and all start with STORE_ or KEY_. An address is given to these makers
 * as `shownAddress` made it: no message ever holds a password.
 */

export const badStoreAddress = (shown: string, problem: string) =>
  new InputError(
    'STORE_ADDRESS',
    `store ${shown}`,
    problem,
    "give a path, or an address as in 'postgres://user@host/db'",
  );

export const missingStore = (shown: string, problem: string) =>
  new InputError(
    'STORE_MISSING',
    `store ${shown}`,
    problem,
    "check the address; 'twinyard keys create' makes a new file",
  );

export const notADatabase = (shown: string, problem: string) =>
  new InputError(
    'STORE_NOT_A_DATABASE',
    `store ${shown}`,
    problem,
    'give the path of a store, or of a file to be made',
  );

export const newerStore = (shown: string, has: number, known: number) =>
  new InputError(
    'STORE_NEWER',
    `store ${shown}`,
    `was written by a newer program (its tables have version ${has}, this program knows ${known})`,
    'run that version of twinyard, or a later one',
  );

export const storePermission = (shown: string, problem: string) =>
  new InputError('STORE_PERMISSION', `store ${shown}`, problem, 'run as its owner, or give it other rights');

export const notAFolder = (shown: string) =>
  new InputError(
    'STORE_FOLDER',
    `store ${shown}`,
    'there is a file where the folder of its data would be',
    'move that file away, or name another folder (--data-dir) or another store (--store)',
  );

export const fullStore = (shown: string, problem: string) =>
  new RunError(
    'STORE_FULL',
    `store ${shown}: there is no room left for it, and what was asked is not done (${problem}); make room on its disk`,
  );

export const unreachableStore = (shown: string, problem: string) =>
  new RunError('STORE_UNREACHABLE', `store ${shown}: cannot be reached (${problem})`);

export const lockedStore = (shown: string) =>
  new RunError('STORE_LOCKED', `store ${shown}: another process has kept it locked for too long`);

export const storeFailed = (shown: string, problem: string) =>
  new RunError('STORE_FAILED', `store ${shown}: ${problem}`);

/** What was given for an id or a name may be the text of a key, or most of it: that is not repeated. */
const keyPlace = (called: string) => (/^(?!ty_)[^\p{Cc}]{1,40}$/u.test(called) ? `key '${called}'` : 'key');

export const unknownKey = (id: string) =>
  new InputError('KEY_UNKNOWN', keyPlace(id), 'does not exist', "'twinyard keys list' shows those that do");

export const ambiguousKey = (name: string, ids: readonly string[]) =>
  new InputError('KEY_AMBIGUOUS', keyPlace(name), `${ids.length} have this name`, `give an id: ${ids.join(', ')}`);

export const revokedKey = (id: string) =>
  new InputError('KEY_REVOKED', keyPlace(id), 'is revoked for good', 'create a new one');

export const badKeyField = (place: string, problem: string, accepted: string) =>
  new InputError('KEY_INVALID', place, problem, `give ${accepted}`);

export const unknownClass = (place: string, name: string, known: readonly string[]) =>
  new InputError('KEY_INVALID', place, `no policy defines the class '${name}'`, knownNames(name, known));

/** Whether an error says that the store could not do its work, rather than that it was asked for something wrong. */
export function isStoreFailure(error: unknown): boolean {
  return (error instanceof RunError || error instanceof InputError) && error.code.startsWith('STORE_');
}
