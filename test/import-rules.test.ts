import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/**
 * Who may import whom. `layer` allows everything of a layer, `layer:types` only its types, `layer/file` that one file.
 * The folders are the architecture: an import that is not here is a design decision, so change docs/design.md with it.
 */
const ALLOWED: Record<string, readonly string[]> = {
  kernel: [],
  protocol: [],
  store: ['kernel'],
  policy: ['kernel'],
  workload: ['kernel', 'policy:types'],
  replica: ['kernel', 'workload:types', 'workload/request-table'],
  simulator: ['kernel', 'policy', 'workload', 'replica'],
  report: ['simulator:types', 'workload:types', 'experiment:types', 'observe:types'],
  experiment: ['kernel', 'policy', 'workload', 'replica', 'simulator', 'report'],
  emulator: ['replica', 'kernel', 'protocol', 'workload/request-table', 'workload:types'],
  gateway: ['policy', 'kernel', 'protocol', 'store', 'replica/latency', 'workload:types'],
  observe: ['kernel', 'protocol', 'policy:types', 'workload', 'replica', 'simulator', 'experiment'],
  control: ['kernel', 'protocol', 'policy', 'store', 'gateway', 'experiment', 'replica'],
  cli: [
    'store',
    'observe',
    'control',
    'kernel',
    'protocol',
    'policy',
    'workload',
    'replica',
    'simulator',
    'report',
    'experiment',
    'emulator',
    'gateway',
  ],
};

interface Import {
  file: string;
  target: string;
  typeOnly: boolean;
}

const IMPORT =
  /(?:import|export)\s+(type\s+)?(?:[\w*\s{},$]+\sfrom\s+)?['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]\s*\)/g;

function importsOf(file: string): Import[] {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(IMPORT)].map((match) => ({
    file: relative(SRC, file),
    target: relative(SRC, join(file, '..', match[2] ?? match[3]!)).replace(/\.js$/, ''),
    typeOnly: match[1] !== undefined,
  }));
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(SRC, name));

function isAllowed({ file, target, typeOnly }: Import): boolean {
  const from = file.split('/')[0]!;
  const to = target.split('/')[0]!;
  if (from === to) return true;
  const rules = ALLOWED[from] ?? [];
  return rules.includes(to) || rules.includes(target) || (typeOnly && rules.includes(`${to}:types`));
}

describe('imports go one way', () => {
  test('every layer of src has a rule', () => {
    const layers = new Set(files.map((file) => relative(SRC, file).split('/')[0]!));
    for (const layer of layers) expect(ALLOWED, layer).toHaveProperty([layer]);
  });

  test('no import breaks the rules', () => {
    const imports = files.flatMap(importsOf);
    expect(imports.length).toBeGreaterThan(100);
    const broken = imports.filter((one) => !isAllowed(one)).map(({ file, target }) => `${file} imports ${target}`);
    expect(broken).toEqual([]);
  });

  test('a forbidden import is found', () => {
    expect(isAllowed({ file: 'policy/a.ts', target: 'simulator/cluster', typeOnly: false })).toBe(false);
    expect(isAllowed({ file: 'replica/a.ts', target: 'workload/prompt-keys', typeOnly: false })).toBe(false);
    expect(isAllowed({ file: 'replica/a.ts', target: 'workload/prompt-keys', typeOnly: true })).toBe(true);
  });
});
