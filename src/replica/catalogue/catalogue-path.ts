import { packagePath } from '../../files/package-path.js';

/** A bundled file of the catalogue. */
export function cataloguePath(name: string): string {
  return packagePath('catalogue', name);
}
