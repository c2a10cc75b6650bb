import { InputError } from '../../kernel/errors.js';

/** What can be wrong with a backup. Codes are stable and start with BACKUP_. */

export const backupExists = (path: string) =>
  new InputError('BACKUP_EXISTS', path, 'already exists', 'choose another name');

export const unwritableBackup = (path: string, problem: string) =>
  new InputError(
    'BACKUP_UNWRITABLE',
    path,
    `cannot be written (${problem})`,
    'choose a file in a folder that you may write to',
  );

export const badBackup = (path: string, problem: string) =>
  new InputError('BACKUP_FILE', path, problem, 'choose a file that `twinyard backup` wrote');

export const newerBackup = (path: string, has: number, known: number) =>
  new InputError(
    'BACKUP_NEWER',
    path,
    `was written by a newer program (its tables have version ${has}, this program knows ${known})`,
    'run that version of twinyard, or a later one',
  );

export const notEmpty = (shown: string, table: string) =>
  new InputError('BACKUP_NOT_EMPTY', `store ${shown}`, `is not empty (${table})`, 'restore into a new store');
