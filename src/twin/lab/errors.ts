import { writeProblem } from '../../files/file-problem.js';
import { InputError } from '../../kernel/errors.js';

/** Errors of uploads. Codes are stable. */

export function uploadUnwritable(error: unknown): InputError {
  const hint = "make room in the data folder of the gateway ('data_dir'), and upload it again";
  return new InputError('LAB_UPLOAD_UNWRITABLE', 'upload', `is not kept: ${writeProblem(error)}`, hint);
}
