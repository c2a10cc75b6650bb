import { fileURLToPath } from 'node:url';

/** A path inside the bundled `catalogue/` folder; the same depth from `src/` and from the compiled `dist/`. */
export function cataloguePath(name: string): string {
  return fileURLToPath(new URL(`../../../catalogue/${name}`, import.meta.url));
}
