import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

const EXPORT =
  /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm;

/**
 * The function of a command has the name of the command and of its file. Only tables of commands name it, with its
 * folder, so it may have the name of the function that it calls: `twinyard calibrate` calls `calibrate`.
 */
function isCommand(file: string, source: string, name: string): boolean {
  return (
    file.startsWith('cli/') &&
    basename(file) === `${name}.ts` &&
    source.includes(`export async function ${name}(argv: readonly string[], io: CliIo): Promise<number>`)
  );
}

/** Exported names that more than one file declares, with the files. Re-exports declare nothing. */
function namesOfSeveral(sources: Iterable<readonly [file: string, source: string]>): string[] {
  const files = new Map<string, Set<string>>();
  for (const [file, source] of sources) {
    for (const [, name] of source.matchAll(EXPORT)) {
      if (!isCommand(file, source, name!)) files.set(name!, (files.get(name!) ?? new Set()).add(file));
    }
  }
  return [...files].filter(([, { size }]) => size > 1).map(([name, of]) => `${name}: ${[...of].join(', ')}`);
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !/\.(test|contract|fixture)\.ts$/.test(name),
);

describe('exported names', () => {
  test('are declared by one file', () => {
    expect(namesOfSeveral(files.map((file) => [file, readFileSync(join(SRC, file), 'utf8')]))).toEqual([]);
  });

  test('are found in every kind of declaration', () => {
    const kinds = ['const A =', 'async function A(', 'abstract class A {', 'interface A {', 'type A<B> =', 'enum A {'];
    for (const kind of kinds) {
      const sources = [
        ['one/a.ts', `export ${kind}`],
        ['one/b.ts', 'x;\nexport class A {'],
      ] as const;
      expect(namesOfSeveral(sources), kind).toEqual(['A: one/a.ts, one/b.ts']);
    }
    const declared = ['one/a.ts', 'export const A = 1;'] as const;
    expect(namesOfSeveral([declared, ['two/b.ts', "export { A } from '../one/a.js';"]])).toEqual([]);
  });

  test('of commands may be the name of what the command does', () => {
    const action = ['observe/fit.ts', 'export function fit(samples: Samples): Fit {'] as const;
    const command = 'export async function fit(argv: readonly string[], io: CliIo): Promise<number> {';
    expect(namesOfSeveral([action, ['cli/trace/fit.ts', command]])).toEqual([]);
    expect(namesOfSeveral([action, ['cli/trace/other.ts', command]])).toHaveLength(1);
    expect(namesOfSeveral([action, ['cli/trace/fit.ts', 'export async function fit(argv: string[]) {']])).toHaveLength(
      1,
    );
  });
});
