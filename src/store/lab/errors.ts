import { InputError } from '../../kernel/errors.js';

/** Errors of saved experiments. Codes are stable. */

export function savedFull(workspace: string, most: number): InputError {
  return new InputError('LAB_SAVED_FULL', `workspace ${workspace}`, `has ${most} saved results`, 'delete one first');
}
