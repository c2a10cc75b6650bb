import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { COMMAND_LINES } from '../src/cli/command-lines.js';
import { parseExperimentFile } from '../src/cli/compare/experiment-file.js';
import { generatedPages } from '../src/cli/documentation/pages.js';
import { flagsOf } from '../src/cli/flags/command-line.js';
import { PLAN_FILE } from '../src/cli/plan/plan-flags.js';
import { parseSweepFile } from '../src/cli/sweep/sweep-file.js';
import { TUNE_FILE } from '../src/cli/tune/tune-flags.js';
import { readResources } from '../src/control/resources/read-resources.js';
import { parsePrices } from '../src/experiment/plan/read-prices.js';
import { DISPATCH_ORDERS } from '../src/policy/queueing/dispatch-orders.js';
import { FAIRNESS_POLICIES } from '../src/policy/queueing/fairness-policies.js';
import { SATURATION_DETECTORS } from '../src/policy/queueing/saturation.js';
import { BUILT_IN_SLO_PRIORITIES } from '../src/policy/slo-classes.js';
import { bundledModels } from '../src/replica/catalogue/model-catalogue.js';
import { LATENCY_MODELS } from '../src/replica/latency/registry.js';
import { PREEMPTION_POLICIES } from '../src/replica/preemption/registry.js';
import { STATUSES } from '../src/replica/request-outcomes.js';
import { SCHEDULERS } from '../src/replica/scheduling/registry.js';
import { parsePolicyBundle } from '../src/simulator/policy-bundle.js';
import { WORKLOADS } from '../src/workload/generate/presets.js';
import { readWorkloadSpec } from '../src/workload/spec/read-workload-spec.js';
import { BASE_COLUMNS } from '../src/workload/trace-v2/data/layout.js';
import { HEADER_SCHEMA } from '../src/workload/trace-v2/header/header-schema.js';
import { readTraceHeader } from '../src/workload/trace-v2/header/read-header.js';
import { type DocumentedCommand, documentedCommands, excerpt } from './support/documented-commands.js';
import { goldenNames } from './support/golden-case.js';
import { type MarkdownPage, parseMarkdown } from './support/markdown-page.js';
import { PageRunner } from './support/page-runner.js';
import { captured } from './support/test-io.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Writes the actual output of commands into the pages instead of comparing: for results changed on purpose. */
const UPDATE = process.env.UPDATE_DOCS === '1';

const pagePaths = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...['docs', 'examples'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => join(folder, name)),
  ),
].sort();

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const texts = new Map(pagePaths.map((path) => [path, textOf(path)]));
const pages = new Map<string, MarkdownPage>([...texts].map(([path, text]) => [path, parseMarkdown(text)]));

describe('commands print what the pages show', () => {
  let runner: PageRunner | undefined;
  afterEach(async () => {
    await runner?.end();
    runner = undefined;
  });

  const withCommands = [...pages].filter(([, page]) => documentedCommands(page.blocks).length > 0);
  test.each(withCommands)('%s', async (path, page) => {
    runner = new PageRunner(ROOT);
    const printed = new Map<number, readonly string[]>();
    for (const command of documentedCommands(page.blocks)) {
      const output = await outputOf(runner, command, path);
      if (command.shown === undefined || output === undefined) continue;
      const shown = excerpt(output, command.shown);
      if (UPDATE) printed.set(command.shown.line, shown);
      else expect(command.shown.lines, `${path}:${command.shown.line}`).toEqual(shown);
    }
    if (!UPDATE) return;
    // Its lines are known by their numbers.
    expect(textOf(path), `${path} was changed meanwhile`).toBe(texts.get(path));
    writeFileSync(join(ROOT, path), withOutputs(textOf(path), page, printed));
  });

  test('every command beside one of kubectl is run, but for those that do not end by themselves', () => {
    const page = 'docs/from-kubectl.md';
    const run = documentedCommands(pages.get(page)!.blocks).map(({ words }) => words.join(' '));
    const beside = [...textOf(page).matchAll(/^\| `kubectl [^|]*\| `(twinyard [^`]*)` *\|$/gm)].map(
      ([, text]) => text!,
    );
    const missing = beside.filter((text) => !run.includes(text.replaceAll("'", '')));
    expect(beside.length).toBeGreaterThan(20);
    expect(missing).toEqual([
      ...['twinyard context use prod', 'twinyard get ep -w', 'twinyard logs ep/chat -f', 'twinyard events -w'],
      ...['twinyard edit ep/chat', 'twinyard top'],
    ]);
  });

  test('pages have commands', () => {
    expect(withCommands.length).toBeGreaterThan(20);
    expect(pages.get('README.md')!.blocks.filter(({ language }) => language === 'text').length).toBeGreaterThan(2);
  });
});

async function outputOf(runner: PageRunner, command: DocumentedCommand, path: string): Promise<string | undefined> {
  const ended = await runner.run(command.words);
  if (ended === undefined) return undefined;
  expect(ended.code, `${path}:${command.line}: ${ended.stderr}`).toBe(command.exitCode);
  return ended.code === 0 ? ended.stdout : ended.stderr;
}

/** The page with other lines in some of its blocks, by the number of their opening line. */
function withOutputs(text: string, page: MarkdownPage, printed: ReadonlyMap<number, readonly string[]>): string {
  const lines = text.split('\n');
  for (const block of [...page.blocks].reverse()) {
    const now = printed.get(block.line);
    if (now !== undefined) lines.splice(block.line, block.lines.length, ...now);
  }
  return lines.join('\n');
}

describe('pages', () => {
  test('that are generated are up to date', async () => {
    const generated = await generatedPages();
    for (const [path, text] of generated) {
      expect(existsSync(join(ROOT, 'docs', path)), `docs/${path} is missing: run node scripts/generate-docs.mjs`).toBe(
        true,
      );
      expect(textOf(join('docs', path)), `docs/${path}: run node scripts/generate-docs.mjs`).toBe(text);
    }
    for (const folder of ['commands/', 'policies/']) {
      const written = pagePaths.map((path) => relative('docs', path)).filter((path) => path.startsWith(folder));
      expect(written).toEqual([...generated.keys()].filter((path) => path.startsWith(folder)).sort());
    }
  });

  test.each([...pages])('%s: links have a target', (path, page) => {
    for (const link of page.links.filter((target) => !/^[a-z]+:/.test(target))) {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : relative(ROOT, join(ROOT, dirname(path), file));
      expect(existsSync(join(ROOT, target)), `${path}: ${link}`).toBe(true);
      if (anchor !== undefined) expect([...pages.get(target)!.anchors], `${path}: ${link}`).toContain(anchor);
    }
  });

  test.each([...pages])('%s: flags exist', (path, page) => {
    const known = new Set(['help', 'version', 'write']);
    for (const [name, flag] of COMMAND_LINES.flatMap((line) => Object.entries(flagsOf(line)))) {
      for (const spelling of [name, ...flag.aliases]) known.add(spelling);
    }
    const lines = page.blocks.filter(({ language }) => language !== 'bash').flatMap((block) => block.lines);
    const others = lines.filter((line) => !/^(curl|helm|ray|pip|python3) /.test(line.trimStart()));
    for (const [, flag] of [page.prose, ...others].join('\n').matchAll(/(?<![\w-])--([a-z][a-z0-9-]*)/g)) {
      expect([...known], `${path}: --${flag}`).toContain(flag);
    }
  });

  test.each([...pages])('%s: YAML is accepted', async (path, page) => {
    for (const { language, lines, line } of page.blocks) {
      if (language !== 'yaml') continue;
      const text = lines.join('\n');
      const place = `${path}:${line}`;
      if (/^version:/m.test(text)) expect(() => readWorkloadSpec(text, place)).not.toThrow();
      else if (/^kind: Sweep$/m.test(text)) await expect(parseSweepFile(text, place)).resolves.toBeDefined();
      else if (/^kind: Tune$/m.test(text))
        await expect(parseExperimentFile(TUNE_FILE, text, place)).resolves.toBeDefined();
      else if (/^kind: Plan$/m.test(text))
        await expect(parseExperimentFile(PLAN_FILE, text, place)).resolves.toBeDefined();
      else if (/^trace_version:/m.test(text)) await expect(readTraceHeader(text, place)).resolves.toBeDefined();
      else if (/^apiVersion: twinyard\//m.test(text)) expect(() => readResources(text, place)).not.toThrow();
      else if (/^per_gpu_hour:/m.test(text)) expect(() => parsePrices(text, place)).not.toThrow();
      else await expect(parsePolicyBundle(text, place)).resolves.toBeDefined();
    }
  });

  const namesOf = (registry: readonly { name: string }[]) => registry.map(({ name }) => name);
  test.each([
    ['docs/flow-control.md', [SATURATION_DETECTORS, DISPATCH_ORDERS, FAIRNESS_POLICIES].flatMap(namesOf)],
    ['docs/admission.md', Object.keys(BUILT_IN_SLO_PRIORITIES)],
    ['docs/simulating.md', WORKLOADS],
    ['docs/replicas.md', [LATENCY_MODELS, SCHEDULERS, PREEMPTION_POLICIES].flatMap(namesOf)],
    ['docs/replicas.md', bundledModels()],
    ['docs/replicas.md', Object.keys(JSON.parse(textOf('catalogue/hardware.json')))],
    ['docs/traces.md', [...BASE_COLUMNS, ...Object.keys(HEADER_SCHEMA.entries)]],
    ['docs/results.md', STATUSES],
  ])('%s names all there are', (path, names) => {
    for (const name of names) expect(textOf(path), name).toContain(`\`${name}\``);
  });
});

describe('docs/invariants.md', () => {
  const proofs = [...textOf('docs/invariants.md').matchAll(/`([\w./-]+\.ts)`: "([^"]+)"/g)];

  test('names tests, and as many golden cases as there are', () => {
    expect(proofs.length).toBeGreaterThan(20);
    for (const page of ['docs/invariants.md', 'docs/design.md']) {
      expect(textOf(page)).toContain(`${goldenNames.length} scenarios`);
    }
  });

  test.each(proofs.map(([, file, title]) => [file!, title!]))('%s: %s', (file, title) => {
    const source = textOf(file);
    const quoted = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    // A call with the title first: `it('...', `, or what `it.each(...)` returns.
    expect(source).toMatch(new RegExp(`\\(\\s*(['"\`])${quoted}\\1,\\s`));
  });
});

describe('docs/results.md', () => {
  const page = textOf('docs/results.md');

  /** Every key below a value; the keys of maps whose names come from the input are left out. */
  function keysOf(value: unknown, into: Set<string>): Set<string> {
    if (Array.isArray(value)) for (const item of value) keysOf(item, into);
    else if (value !== null && typeof value === 'object') {
      for (const [key, inner] of Object.entries(value)) {
        into.add(key);
        if (!NAMED_BY_INPUT.includes(key)) keysOf(inner, into);
        else for (const entry of Object.values(inner as object)) keysOf(entry, into);
      }
    }
    return into;
  }
  /** The small trace with another model for some of its requests. */
  function writeTwoModels(): void {
    const [names = '', ...rows] = readFileSync('examples/small-trace.csv', 'utf8').trimEnd().split('\n');
    const column = names.split(',').indexOf('model');
    const changed = rows.map((row, i) =>
      row
        .split(',')
        .map((cell, at) => (at === column && i % 2 === 0 ? 'other' : cell))
        .join(','),
    );
    writeFileSync('out/two-models.csv', `${[names, ...changed].join('\n')}\n`);
    writeFileSync('out/two-models.yaml', readFileSync('examples/small-trace.yaml'));
  }
  const NAMED_BY_INPUT = [
    ...[
      'slo',
      'tenants',
      'per_class',
      'slo_attainment_by_dim',
      'terms',
      'reasons',
      'targets',
      'shed',
      'rejections',
      'models',
      'bounds',
    ],
    ...['options', 'tenantBudgets', 'sloPriorities', 'sloTargetsUs', 'fitnessWeights', 'goodputTargets'],
  ];

  test('explains every key, and no other', async () => {
    const runner = new PageRunner(ROOT);
    try {
      writeTwoModels();
      const common = '--model qwen/qwen3-14b --trace-level decisions --summarize-trace --metrics-path out/result.json';
      const replay = `replay ${common} --trace examples/small-trace --session-mode closed-loop --think-time-ms 100 --flow-control`;
      const runs = [
        `${replay} --fitness-weights throughput:1 --slo-itl critical=50ms --routing-policy weighted`,
        `run ${common} --num-requests 3 --model-config-folder examples/models --model acme/acme-3b --hardware LAB-40 --tp 1 --hardware-config examples/gpus.json`,
        `replay ${common} --trace examples/small-trace --session-mode closed-loop --think-time-dist constant:value=1s --admission-policy reject-all`,
        `run ${common} --workload-spec examples/workloads/first.yaml`,
        `run ${common} --workload-spec examples/workloads/images.yaml`,
        `replay ${common} --trace out/two-models`,
        `run ${common} --num-requests 3 --interval --arrival-jitter-ms 1 --queueing-latency 7000 --detectors all`,
        `replay ${common} --trace examples/observed --timeout 60 --max-in-flight 4`,
      ];
      const keys = new Set<string>();
      for (const [i, args] of runs.entries()) {
        const words = (i === 1 ? args.replace('--model qwen/qwen3-14b ', '') : args).split(' ');
        const ended = await captured([...words, '--decisions-path', 'out/decisions.jsonl', '--log', 'silent']);
        expect(ended.stderr).toBe('');
        keysOf(JSON.parse(readFileSync('out/result.json', 'utf8')), keys);
        for (const line of readFileSync('out/decisions.jsonl', 'utf8').trim().split('\n'))
          keysOf(JSON.parse(line), keys);
      }
      for (const key of keys) expect(page, key).toContain(`\`${key}\``);
      const explained = [...page.matchAll(/^\| ((?:`\w+`(?:, )?)+) +\|/gm)].flatMap(([, cell]) =>
        [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
      );
      expect(explained.length).toBeGreaterThan(100);
      for (const name of explained)
        expect([...keys, ...STATUSES, 'thinkTimeDist', 'profile', 'latencyProfile'], name).toContain(name);
    } finally {
      await runner.end();
    }
  });
});
