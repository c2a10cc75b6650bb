import { InputError } from '../../kernel/errors.js';

/** What can be wrong with a backup. Codes are stable and start with BACKUP_. */

export const backupExists = (path: string) =>
  new InputError('BACKUP_EXISTS', path, 'is there already', 'give the name of a file that is not');

export const unwritableBackup = (path: string, problem: string) =>
  new InputError(
    'BACKUP_UNWRITABLE',
    path,
    `cannot be written (${problem})`,
    'give a file in a folder that you may write to',
  );

export const badBackup = (path: string, problem: string) =>
  new InputError('BACKUP_FILE', path, problem, 'give a file that backup has written');

export const newerBackup = (path: string, has: number, known: number) =>
  new InputError(
    'BACKUP_NEWER',
    path,
    `was written by a newer program (its tables have version ${has}, this program knows ${known})`,
    'run that version of twinyard, or a later one',
  );

export const notEmpty = (shown: string, table: string) =>
  new InputError(
    'BACKUP_NOT_EMPTY',
    `store ${shown}`,
    `holds something already (${table})`,
    'restore into a new store',
  );
