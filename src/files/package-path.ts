import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Sources, compiled modules and the bundle differ in depth: the package is the nearest folder above with its data. */
function findPackage(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'catalogue', 'hardware.json')) && dirname(folder) !== folder) {
    folder = dirname(folder);
  }
  return folder;
}

const root = findPackage();

/** A file of the package, wherever it is installed. */
export function packagePath(...names: readonly string[]): string {
  return join(root, ...names);
}

export function packageVersion(): string {
  return (JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string }).version;
}
