import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/**
 * The imports that are allowed. `layer` allows everything of a layer, `layer:types` only its types, `layer/file` that
 * one file, `layer/folder/` that folder. The folders are the architecture: an import that is not here is a design decision, so change docs/design.md
 * with it.
 */
const ALLOWED: Record<string, readonly string[]> = {
  kernel: [],
  files: ['kernel'],
  protocol: ['kernel'],
  schema: ['kernel'],
  store: ['kernel', 'files', 'schema'],
  policy: ['kernel', 'schema'],
  engines: ['kernel', 'protocol'],
  workload: ['files', 'schema', 'kernel', 'policy:types'],
  replica: ['files', 'schema', 'kernel', 'policy:types', 'workload:types', 'workload/request-table'],
  simulator: ['files', 'schema', 'kernel', 'policy', 'workload', 'replica'],
  report: ['simulator:types', 'workload:types', 'experiment:types', 'observe:types'],
  experiment: ['files', 'schema', 'kernel', 'policy', 'workload', 'replica', 'simulator', 'report'],
  emulator: ['replica', 'kernel', 'protocol', 'workload/request-table', 'workload:types'],
  kube: ['files', 'kernel'],
  ray: ['files', 'kernel'],
  gateway: [
    'files',
    'schema',
    'engines',
    'policy',
    'kernel',
    'protocol',
    'store',
    'replica/latency/',
    'workload:types',
    'kube/discovery/kube-target',
    'kube/election/lease-name',
    'ray/serve/serve-target',
  ],
  observe: ['files', 'schema', 'kernel', 'protocol', 'policy:types', 'workload', 'replica', 'simulator', 'experiment'],
  control: [
    'files',
    'schema',
    'kernel',
    'protocol',
    'engines',
    'policy',
    'store',
    'gateway',
    'experiment',
    'replica',
    'kube',
    'ray',
  ],
  twin: [
    'files',
    'schema',
    'kernel',
    'protocol',
    'policy',
    'workload',
    'replica',
    'simulator',
    'experiment',
    'report',
    'observe',
    'gateway',
  ],
  api: ['files', 'schema', 'kernel', 'protocol', 'policy', 'store', 'gateway', 'control', 'twin'],
  cli: [
    'api',
    'twin',
    'schema',
    'files',
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
    'engines',
    'gateway',
    'kube',
    'ray',
  ],
};

interface Import {
  file: string;
  target: string;
  typeOnly: boolean;
  /** By `import()`. */
  isLoaded?: boolean;
}

const IMPORT =
  /(?:import|export)\s+(type\s+)?(?:[\w*\s{},$]+\sfrom\s+)?['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]\s*\)/g;

function importsOf(file: string): Import[] {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(IMPORT)].map((match) => ({
    file: relative(SRC, file),
    target: relative(SRC, join(file, '..', match[2] ?? match[3]!)).replace(/\.js$/, ''),
    typeOnly: match[1] !== undefined,
    isLoaded: match[3] !== undefined,
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
  const inFolder = rules.some((rule) => rule.endsWith('/') && target.startsWith(rule));
  return inFolder || rules.includes(to) || rules.includes(target) || (typeOnly && rules.includes(`${to}:types`));
}

/**
 * Tables of commands, which load one when it is called: commands read their summaries from the table, and it names them
 * only to load them. Completion walks all commands, of which it is one.
 */
const LOADS_ON_DEMAND = [
  'cli/commands.ts',
  'cli/context.ts',
  'cli/experiment.ts',
  'cli/keys.ts',
  'cli/profiles.ts',
  'cli/rollout.ts',
  'cli/shadow/shadow.ts',
  'cli/subcommands.ts',
  'cli/completion/completion-model.ts',
];

/**
 * Cycles among the children of a folder that pass through a sub-folder: a sub-folder counts as one with all it holds, a
 * file of the folder itself counts alone. Types count as well: to read a file is to read what it names.
 */
function cyclesOf(folder: string, imports: readonly Import[]): string[][] {
  const edges = new Map<string, Set<string>>();
  for (const { file, target } of imports) {
    const [from, to] = [childOf(folder, file.replace(/\.ts$/, '')), childOf(folder, target)];
    if (from === null || to === null || from === to) continue;
    edges.set(from, (edges.get(from) ?? new Set()).add(to));
  }
  const reached = new Map([...edges.keys()].map((from) => [from, reachableFrom(from, edges)]));
  const cycles = new Set<string>();
  for (const [from, others] of reached) {
    const cycle = [...others].filter((to) => reached.get(to)?.has(from)).sort();
    if (others.has(from) && cycle.some((child) => child.endsWith('/'))) cycles.add(cycle.join(' '));
  }
  return [...cycles].map((cycle) => cycle.split(' '));
}

/** `fleet/` for a file below that sub-folder, `gateway` for a file of the folder itself, null outside of it. */
function childOf(folder: string, path: string): string | null {
  if (!path.startsWith(`${folder}/`)) return null;
  const [first, ...rest] = path.slice(folder.length + 1).split('/');
  return rest.length > 0 ? `${first}/` : first!;
}

function reachableFrom(start: string, edges: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>();
  const left = [start];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    for (const next of edges.get(node) ?? []) {
      if (!reached.has(next)) left.push(next);
      reached.add(next);
    }
  }
  return reached;
}

const isProduct = (file: string) => !/\.(test|contract|fixture)\.ts$/.test(file);
const folders = [...new Set(files.map((file) => dirname(relative(SRC, file))))]
  .flatMap((folder) => folder.split('/').map((_, depth, names) => names.slice(0, depth + 1).join('/')))
  .filter((folder, i, all) => all.indexOf(folder) === i)
  .sort();

describe('sub-folders import one way', () => {
  const imports = files
    .filter(isProduct)
    .flatMap(importsOf)
    .filter(({ file, isLoaded }) => !(isLoaded && LOADS_ON_DEMAND.includes(file)));

  test.each(folders)('in %s', (folder) => {
    expect(cyclesOf(folder, imports)).toEqual([]);
  });

  test('a cycle is found across files and sub-folders, and one between files alone is not', () => {
    const made = (file: string, target: string): Import => ({ file: `${file}.ts`, target, typeOnly: true });
    const around = [made('a/top', 'a/x/one'), made('a/x/two', 'a/y/one'), made('a/y/deep/one', 'a/top')];
    expect(cyclesOf('a', around)).toEqual([['top', 'x/', 'y/']]);
    expect(cyclesOf('a', around.slice(1))).toEqual([]);
    expect(cyclesOf('a', [made('a/one', 'a/two'), made('a/two', 'a/one')])).toEqual([]);
  });
});

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
