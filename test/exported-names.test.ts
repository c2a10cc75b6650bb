import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** Names that two layers still export with different meanings, by the layers that have to tell them apart; to be emptied. */
const SHARED_LEFT: readonly string[] = [
  // api, gateway
  ...['ApiRoute', 'ReplicaView', 'pathUnknown'],
  // gateway, workload: bytes of JSON and CSV
  ...['COLON', 'COMMA', 'QUOTE', 'SPACE'],
  // cli
  ...['DEFAULT_WORKSPACE', 'EVENTS', 'MOST_REPLICAS', 'list', 'resourcePage'],
  // cli: functions of commands
  ...['anonymise', 'calibrate', 'engine', 'observe'],
];

const EXPORT =
  /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm;

/** Each exported name with the layers that declare it. Re-exports declare nothing. */
function layersByName(sources: Iterable<readonly [file: string, source: string]>): Map<string, Set<string>> {
  const layers = new Map<string, Set<string>>();
  for (const [file, source] of sources) {
    for (const [, name] of source.matchAll(EXPORT)) {
      layers.set(name!, (layers.get(name!) ?? new Set()).add(file.split('/')[0]!));
    }
  }
  return layers;
}

const shared = (layers: ReadonlyMap<string, ReadonlySet<string>>) =>
  [...layers].filter(([, { size }]) => size > 1).map(([name]) => name);

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !/\.(test|contract|fixture)\.ts$/.test(name),
);

describe('exported names', () => {
  const layers = layersByName(files.map((file) => [file, readFileSync(join(SRC, file), 'utf8')]));

  test('are declared by one layer', () => {
    const found = shared(layers).filter((name) => !SHARED_LEFT.includes(name));
    expect(found.map((name) => `${name}: ${[...layers.get(name)!].join(', ')}`)).toEqual([]);
  });

  test('leave the list when they are declared by one layer', () => {
    expect(SHARED_LEFT.filter((name) => !shared(layers).includes(name))).toEqual([]);
  });

  test('are found in every kind of declaration', () => {
    const kinds = ['const A =', 'async function A(', 'abstract class A {', 'interface A {', 'type A<B> =', 'enum A {'];
    for (const kind of kinds) {
      const sources = [
        ['one/a.ts', `export ${kind}`],
        ['two/b.ts', 'x;\nexport class A {'],
      ] as const;
      expect(shared(layersByName(sources)), kind).toEqual(['A']);
    }
    expect(
      shared(
        layersByName([
          ['one/a.ts', 'export const A = 1;'],
          ['two/b.ts', "export { A } from '../one/a.js';"],
        ]),
      ),
    ).toEqual([]);
  });
});
