import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of bundled data is beside the code, some levels up: sources and the places they are compiled to differ in depth. */
function findCatalogue(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'catalogue', 'hardware.json')) && dirname(folder) !== folder)
    folder = dirname(folder);
  return join(folder, 'catalogue');
}

const catalogue = findCatalogue();

/** A bundled file of the catalogue, wherever the package is installed. */
export function cataloguePath(name: string): string {
  return join(catalogue, name);
}
