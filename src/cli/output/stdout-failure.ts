import { writeProblem } from '../../files/file-problem.js';
import { resultNotWritten } from '../errors.js';
import type { CliStream } from '../io.js';

/** Says why standard output could not be written and returns the exit code. A reader that has seen enough (`| head`) is no error. */
export function stdoutFailure(error: NodeJS.ErrnoException, stderr: CliStream): number {
  if (error.code === 'EPIPE') return 0;
  stderr.write(`twinyard: ${resultNotWritten(writeProblem(error)).message}\n`);
  return 1;
}
