import { writeProblem } from '../../files/file-problem.js';
import { InputError } from '../../kernel/errors.js';

/** Errors of the folder of the usage journal when a gateway starts. */
export const unwritableJournal = (folder: string, problem: string) =>
  new InputError(
    'JOURNAL_NOT_WRITABLE',
    folder,
    `the usage journal cannot be written there (${problem})`,
    'give a folder on a local disk that the gateway may write to',
  );

/** Reported to the operator while the gateway keeps running. */
export class JournalFault extends Error {
  override readonly name = 'JournalFault';
}

export const unwrittenUsage = (path: string, cause: unknown) =>
  new JournalFault(
    `${path}: usage cannot be written (${writeProblem(cause)}); it is counted in memory, and lost if the gateway is killed`,
    { cause },
  );

export const unfoldedUsage = (cause: unknown) =>
  new JournalFault(`usage cannot be added to the store (${writeProblem(cause)}); it is kept and added later`, {
    cause,
  });

export const unreadUsage = (path: string, lines: number) =>
  new JournalFault(
    `${path}: ${lines} ${lines === 1 ? 'line is' : 'lines are'} damaged; the file is kept, the rest counts`,
  );

export const unremovedUsage = (path: string, cause: unknown) =>
  new JournalFault(`${path}: has been added to the store but cannot be removed (${writeProblem(cause)})`, { cause });
