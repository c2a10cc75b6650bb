import { InputError } from '../../kernel/errors.js';

/** The InputErrors of those who read measured runs. Codes are stable. */

export function unreadable(path: string, reason: string): InputError {
  return new InputError('TRUTH_NOT_READABLE', path, `cannot be read (${reason})`, 'give a file that exists');
}

export function missingColumn(place: string, name: string): InputError {
  return new InputError('TRUTH_MISSING_COLUMN', place, `there is no column '${name}'`, 'give a file that has it');
}

export function notANumber(place: string, given: string): InputError {
  return new InputError('TRUTH_NOT_A_NUMBER', place, `'${given}' is not a number`, 'give numbers only');
}
