import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { KEYS_COMMANDS } from '../keys.js';

const STATIC_IMPORT = /^(?:import|export)\s(?!type\s)(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;

/** Every package that is loaded with a file, before any of it runs. */
function packagesOf(url: URL, seen = new Set<string>(), packages = new Set<string>()): Set<string> {
  if (seen.has(url.href)) return packages;
  seen.add(url.href);
  const source = readFileSync(fileURLToPath(url).replace(/\.js$/, '.ts'), 'utf8');
  for (const [, target] of source.matchAll(STATIC_IMPORT)) {
    if (target!.startsWith('.')) packagesOf(new URL(target!, url), seen, packages);
    else packages.add(target!);
  }
  return packages;
}

const DATABASES = ['kysely', 'libsql', 'pg'];

it.each(['../main.js', '../serve/serve.js', ...KEYS_COMMANDS.map(({ name }) => `${name}.js`)])(
  '%s loads no database before it needs one',
  (file) => {
    const packages = packagesOf(new URL(file, import.meta.url));
    for (const name of DATABASES) expect(packages).not.toContain(name);
  },
);

it('a file that loads a database is found', () => {
  const packages = packagesOf(new URL('../../store/open-store.js', import.meta.url));
  expect(packages).toContain('kysely');
  for (const name of ['libsql', 'pg']) expect(packages).not.toContain(name);
});
