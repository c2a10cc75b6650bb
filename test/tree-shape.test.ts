import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const MOST_LINES = 300;
const MOST_FILES = 15;
/** A file with fewer lines has to be an idea of its own. */
const SMALL_LINES = 30;
/** A file that takes in a small one stays below this. */
const FOLDED_LINES = 200;

/** Folders of plug-ins with the registry that has a line for each file: they grow with the number of plug-ins. */
const PLUG_IN_FOLDERS = new Map([['src/policy/routing', 'src/policy/registry.ts']]);

/** Files that list others, one line each: a registry, the routes of a server, the pages of the documentation. */
const TABLES = ['registry.ts', 'routes.ts', 'pages.ts'];

/** All files of the tree with their sources, by path. */
type Tree = ReadonlyMap<string, string>;

const isProduct = (file: string) => file.startsWith('src/') && !/\.(test|contract|fixture)\.ts$/.test(file);
const linesOf = (source: string) => source.split('\n').length - 1;

function longFiles(tree: Tree): string[] {
  return [...tree].filter(([file, source]) => isProduct(file) && linesOf(source) > MOST_LINES).map(([file]) => file);
}

function fullFolders(tree: Tree): string[] {
  const files = new Map<string, number>();
  for (const file of tree.keys()) {
    const folder = dirname(file);
    if (isProduct(file) && !PLUG_IN_FOLDERS.has(folder)) files.set(folder, (files.get(folder) ?? 0) + 1);
  }
  return [...files].filter(([, count]) => count > MOST_FILES).map(([folder, count]) => `${folder}: ${count}`);
}

const IMPORTED = /^(?:import|export)\s[^;]*?['"](\.[^'"]+)['"]/gm;
const LOADED = /(?:import|new URL)\(\s*['"](\.[^'"]+)['"]/g;

function importsOf(file: string, source: string, kind = IMPORTED): string[] {
  return [...source.matchAll(kind)].map(([, path]) => normalize(join(dirname(file), path!)).replace(/\.js$/, '.ts'));
}

/**
 * Small files that belong into their only importer, a neighbour. Files that are loaded on demand, that a table lists, that have
 * a test of their own, and the folders of engines, which all have the same files, are ideas of their own.
 */
function foldable(tree: Tree): string[] {
  const importers = new Map<string, string[]>();
  const loaded = new Set<string>();
  for (const [file, source] of tree) {
    for (const target of importsOf(file, source)) importers.set(target, [...(importers.get(target) ?? []), file]);
    for (const target of importsOf(file, source, LOADED)) loaded.add(target);
  }
  return [...tree].flatMap(([file, source]) => {
    const [importer, ...others] = importers.get(file) ?? [];
    if (!isProduct(file) || importer === undefined || others.length > 0 || loaded.has(file)) return [];
    const isNeighbour =
      isProduct(importer) && dirname(importer) === dirname(file) && !TABLES.includes(basename(importer));
    if (!isNeighbour || basename(file) === 'errors.ts' || file.startsWith('src/engines/')) return [];
    const lines = linesOf(source);
    const isFolded = lines < SMALL_LINES && lines + linesOf(tree.get(importer)!) < FOLDED_LINES;
    return isFolded ? [`${file} belongs into ${basename(importer)}`] : [];
  });
}

const tree: Tree = new Map(
  ['src', 'test', 'bench'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => [`${folder}/${name}`, readFileSync(join(ROOT, folder, name), 'utf8')] as const),
  ),
);

const lines = (count: number) => 'x\n'.repeat(count);

describe('the tree', () => {
  test('has no file over 300 lines', () => {
    expect(longFiles(tree)).toEqual([]);
    const sources = [['src/a.ts', lines(301)] as const, ['src/a.test.ts', lines(301)] as const];
    expect(longFiles(new Map([...sources, ['src/b.ts', lines(300)]]))).toEqual(['src/a.ts']);
  });

  test('has no folder of more than 15 files, tests not counted', () => {
    expect(fullFolders(tree)).toEqual([]);
    const folder = Array.from({ length: 16 }, (_, i) => [`src/a/${i}.ts`, ''] as const);
    expect(fullFolders(new Map(folder))).toEqual(['src/a: 16']);
    expect(fullFolders(new Map([...folder.slice(1), ['src/a/0.test.ts', '']]))).toEqual([]);
  });

  test('exempts only folders with one file for each line of a registry', () => {
    for (const [folder, registry] of PLUG_IN_FOLDERS) {
      const files = [...tree.keys()].filter((file) => isProduct(file) && dirname(file) === folder);
      const listed = importsOf(registry, tree.get(registry)!);
      expect(files.filter((file) => !listed.includes(file))).toEqual([]);
    }
  });

  test('has no file of under 30 lines that only its neighbour imports', () => {
    expect(foldable(tree)).toEqual([]);
    const small = ['src/a/small.ts', lines(29)] as const;
    const importer = ['src/a/b.ts', "import { x } from './small.js';\n"] as const;
    expect(foldable(new Map([small, importer]))).toEqual(['src/a/small.ts belongs into b.ts']);
    for (const other of ['src/a/small.test.ts', 'src/c.ts', 'src/a/c.ts']) {
      const path = other === 'src/c.ts' ? './a/small.js' : './small.js';
      expect(foldable(new Map([small, importer, [other, `import { x } from '${path}';\n`]])), other).toEqual([]);
    }
    expect(foldable(new Map([small, ['src/a/registry.ts', importer[1]]]))).toEqual([]);
    expect(foldable(new Map([small, ['src/a/b.ts', importer[1] + lines(170)]]))).toEqual([]);
    expect(foldable(new Map([small, importer, ['src/c.ts', "await import('./a/small.js');\n"]]))).toEqual([]);
  });
});
