import { InputError, RunError } from '../../kernel/errors.js';

/**
 * What can be wrong with a store. Codes are stable and start with STORE_. `shown` is an address without its password:
 * no message holds one.
 */

export const badStoreAddress = (shown: string, problem: string) =>
  new InputError('STORE_ADDRESS', `store ${shown}`, problem, "give a path, or a URL such as 'postgres://user@host/db'");

export const missingStore = (shown: string, problem: string) =>
  new InputError(
    'STORE_MISSING',
    `store ${shown}`,
    problem,
    "check the address; 'twinyard keys create' creates a new file",
  );

export const notADatabase = (shown: string, problem: string) =>
  new InputError('STORE_NOT_A_DATABASE', `store ${shown}`, problem, 'give the path of a store, or of a file to create');

export const newerStore = (shown: string, has: number, known: number) =>
  new InputError(
    'STORE_NEWER',
    `store ${shown}`,
    `was written by a newer program (its tables have version ${has}, this program knows ${known})`,
    'run that version of twinyard, or a later one',
  );

export const olderStore = (shown: string) =>
  new InputError(
    'STORE_OLDER',
    `store ${shown}`,
    'was written by twinyard 0.1, whose tables this version cannot read',
    'use a new store and create its keys and resources again',
  );

export const storePermission = (shown: string, problem: string) =>
  new InputError('STORE_PERMISSION', `store ${shown}`, problem, 'run as its owner, or change its permissions');

export const notAFolder = (shown: string) =>
  new InputError(
    'STORE_FOLDER',
    `store ${shown}`,
    'its data folder is a file',
    'move that file, or choose another folder (--data-dir) or store (--store)',
  );

export const fullStore = (shown: string, problem: string) =>
  new RunError('STORE_FULL', `store ${shown}: disk full, nothing was written (${problem}); free some space`);

export const unreachableStore = (shown: string, problem: string) =>
  new RunError('STORE_UNREACHABLE', `store ${shown}: cannot be reached (${problem})`);

export const lockedStore = (shown: string) =>
  new RunError('STORE_LOCKED', `store ${shown}: locked by another process for too long`);

export const storeFailed = (shown: string, problem: string) =>
  new RunError('STORE_FAILED', `store ${shown}: ${problem}`);

/** Whether an error is a failure of the store, rather than of the request. */
export function isStoreFailure(error: unknown): boolean {
  return (error instanceof RunError || error instanceof InputError) && error.code.startsWith('STORE_');
}
