import { InputError, RunError } from '../../kernel/errors.js';

/**
 * What can be wrong with a store. Codes are stable and start with STORE_. An address is given to these makers
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

/** Whether an error says that the store could not do its work, rather than that it was asked for something wrong. */
export function isStoreFailure(error: unknown): boolean {
  return (error instanceof RunError || error instanceof InputError) && error.code.startsWith('STORE_');
}
