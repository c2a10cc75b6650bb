import { InputError } from '../../kernel/errors.js';

/** The InputErrors of reading measured runs. Codes are stable. */

export function unreadable(path: string, reason: string): InputError {
  return new InputError('TRUTH_NOT_READABLE', path, `cannot be read (${reason})`, 'give a file that exists');
}

export function missingColumn(place: string, name: string): InputError {
  return new InputError('TRUTH_MISSING_COLUMN', place, `there is no column '${name}'`, 'give a file that has it');
}

export function notANumber(place: string, given: string): InputError {
  return new InputError('TRUTH_NOT_A_NUMBER', place, `'${given}' is not a number`, 'give numbers only');
}

export function noStepTime(place: string, us: number): InputError {
  return new InputError(
    'TRUTH_NO_STEP_TIME',
    place,
    `the step takes ${us} us`,
    'give steps in order of time, each with its time',
  );
}

/** The GPU's part of a step must not exceed the step. */
export function badGpuTime(place: string, gpuUs: number, us: number): InputError {
  return new InputError(
    'TRUTH_BAD_GPU_TIME',
    place,
    `${gpuUs} us on the GPU in a step of ${us} us`,
    'give the microseconds of the step that the GPU was at work, or leave the column out',
  );
}
