import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { missingCommand } from '../../errors.js';

/**
 * Resolves a command to a program, so that a program that is not installed is reported as such and not as a crashed engine.
 * @param folder the base of relative paths
 */
export function findCommand(command: string, path: string, folder: string): string {
  if (command.includes('/')) {
    const program = resolve(folder, command);
    if (isProgram(program)) return program;
    throw missingCommand(command, 'that can be run');
  }
  for (const place of path.split(delimiter)) {
    const program = join(resolve(folder, place), command);
    if (isProgram(program)) return program;
  }
  throw missingCommand(command, 'on the PATH');
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
