import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { readSamples } from '../protocol/prometheus/read-samples.js';
import type { InferenceEngine } from './engine.js';
import { isLoaderVariable } from './loader-variables.js';
import { type EngineReport, type EngineSignals, missingSignals } from './signals.js';
import { COMMAND_PLACEHOLDERS, type CommandFacts, placeholdersIn, startCommand } from './start-command.js';
import { ENGINE_TASKS } from './task.js';

/** What `<name>/sample.fixture.ts` exports as `sample`: each part for an engine that has it. */
export interface EngineSample {
  /** The page that has its version, and that version. */
  readonly version: { readonly document: object; readonly is: string };
  readonly signals?: SignalsSample;
  /** The command line of the default version for `FACTS`, joined by spaces. */
  readonly command?: string;
  /** The flags of each version, separated by white space, from `flags.fixture.ts`. */
  readonly flags?: Readonly<Record<string, string>>;
}

/** Metrics of a healthy replica, without a value that is 0, and the report read from them. */
export interface SignalsSample {
  readonly metrics: string;
  /** The document beside the metrics, where there is one. */
  readonly extra?: unknown;
  readonly report: EngineReport;
}

export const FACTS: CommandFacts = {
  model: '/models/tiny',
  modelName: 'acme/tiny',
  servedModel: 'tiny',
  host: '127.0.0.1',
  port: '{{port}}',
  task: 'text-generation',
  variables: {},
  self: ['node', 'main.js'],
};

export function reportOf(signals: EngineSignals, { extra, metrics }: Omit<SignalsSample, 'report'>): EngineReport {
  const report = signals.read(readSamples(metrics));
  if (extra !== undefined) signals.extra!.read(extra, report);
  return report;
}

/** What every engine promises. */
export function engineContract(engine: InferenceEngine, sample: EngineSample): void {
  describe(`engine ${engine.name}`, () => {
    it('can be a resource name, and is measured or launched', () => {
      expect(engine.name).toMatch(/^[a-z][a-z0-9-]{0,62}$/);
      expect(engine.signals ?? engine.launch).toBeDefined();
      expect(engine.capabilities.tasks.length).toBeGreaterThan(0);
    });

    it('reads its version, and none from a page of another program', () => {
      expect(engine.version.path).toMatch(/^\/[\w./]+$/);
      expect(engine.version.read(sample.version.document)).toBe(sample.version.is);
      for (const other of [{}, [], { version: 3, build_info: null }])
        expect(engine.version.read(other)).toBeUndefined();
    });

    if (engine.signals !== undefined) signalsContract(engine.signals, sample.signals!);
    if (engine.launch !== undefined) launchContract(engine as Required<InferenceEngine>, sample);
  });
}

function signalsContract(signals: EngineSignals, sample: SignalsSample): void {
  const whole = reportOf(signals, sample);

  it('reads the metrics of a healthy replica', () => {
    expect(whole).toEqual(sample.report);
    expect(missingSignals(signals, whole)).toEqual([]);
    for (const signal of signals.gives) expect(whole[signal], signal).toBeGreaterThan(0);
    if (signals.gives.includes('kvUsed')) expect(whole.kvUsed).toBeLessThanOrEqual(1);
  });

  it.each(['', 'nonsense', '# HELP x y\n# TYPE x gauge\n', '{} {} {}\n\n"', 'a{b="c"} NaN\n'])(
    'reports every signal as missing for %j',
    (metrics) => {
      const report = reportOf(signals, { metrics });
      expect(Object.values(report).every(Number.isNaN)).toBe(true);
      expect(missingSignals(signals, report)).toEqual(signals.gives);
    },
  );

  it('never reports an absent metric as 0: without a line, a signal is unchanged or missing', () => {
    const lines = sample.metrics.split('\n');
    for (const [i] of lines.entries()) {
      const rest = { ...sample, metrics: lines.filter((_, other) => other !== i).join('\n') };
      for (const [signal, value] of Object.entries(reportOf(signals, rest))) {
        if (Number.isNaN(value)) continue;
        expect(value, `${signal} without ${lines[i]}`).toBe(whole[signal as keyof EngineReport]);
      }
    }
  });

  it('accepts any document beside the metrics', () => {
    for (const extra of [null, 1, 'x', {}, [], [1, 'x', {}]]) {
      expect(() => signals.extra?.read(extra, { ...whole })).not.toThrow();
    }
  });
}

/** One value of each kind that a schema accepts: every one of an enum. */
function examplesOf(schema: {
  type?: string | string[];
  enum?: unknown[];
  minimum?: number;
  pattern?: string;
}): unknown[] {
  if (schema.enum !== undefined) return schema.enum;
  const byType: Readonly<Record<string, unknown[]>> = {
    boolean: [true, false],
    integer: [schema.minimum === undefined || schema.minimum < 1 ? 1 : schema.minimum],
    number: [0.5],
    string: schema.pattern === undefined ? ['x'] : [schema.pattern.replaceAll(/[\^$()]/g, '').split('|')[0]],
    object: [{ a: 1 }],
    array: [['x']],
  };
  return [schema.type ?? []].flat().flatMap((type) => byType[type]!);
}

/** The names of the flags of a command line. */
const flagsIn = (command: readonly string[]) =>
  command.filter((one) => one.startsWith('--')).map((one) => one.slice(2).split('=')[0]!);

function launchContract({ capabilities, launch }: Required<InferenceEngine>, { command, flags }: EngineSample): void {
  const versions = Object.values(launch.versions);

  it('starts its default version with model, address and port', () => {
    const template = launch.versions[launch.default_version]!;
    expect(startCommand(template, FACTS).join(' ')).toBe(command);
  });

  it('uses only known placeholders, and passes variables and arguments of tasks on', () => {
    for (const template of versions) {
      const used = template.command.flat().flatMap(placeholdersIn);
      for (const one of used) expect(COMMAND_PLACEHOLDERS).toContain(one);
      expect(used).toEqual(expect.arrayContaining(['host', 'port', 'served_model', 'variables...']));
      for (const [task, given] of Object.entries(template.task_arguments ?? {})) {
        expect(ENGINE_TASKS).toContain(task);
        expect(capabilities.tasks).toContain(task);
        const facts = { ...FACTS, task: task as CommandFacts['task'] };
        expect(startCommand(template, facts)).toEqual(expect.arrayContaining([...given]));
      }
    }
  });

  it.each(Object.entries(launch.versions))(
    '%s renders every variable, and only flags that it has',
    (name, template) => {
      const known = new Set(flags?.[name]?.split(/\s+/));
      const { properties } = template.parameters as { properties: Record<string, object> };
      expect(Object.keys(properties).length).toBeGreaterThan(0);
      const validate = new Ajv({ strict: false }).compile(template.parameters);
      const plain: Partial<CommandFacts>[] = [
        { tensorParallel: 2, gpuMemoryFraction: 0.5 },
        { hub: { name: 'a/b', revision: 'main', file: 'b.gguf' } },
        ...capabilities.tasks.map((task) => ({ task })),
      ];
      for (const facts of plain) {
        for (const flag of flagsIn(startCommand(template, { ...FACTS, ...facts }))) expect(known, flag).toContain(flag);
      }
      const base = startCommand(template, FACTS);
      for (const [variable, schema] of Object.entries(properties)) {
        const rendered = examplesOf(schema).map((value) => {
          expect(validate({ [variable]: value }), `${variable}: ${JSON.stringify(value)}`).toBe(true);
          return startCommand(template, { ...FACTS, variables: { [variable]: value } }).slice(base.length);
        });
        expect(rendered.flat(), variable).not.toEqual([]);
        for (const flag of rendered.flatMap(flagsIn)) expect(known, `${variable}: --${flag}`).toContain(flag);
      }
    },
  );

  it('describes its flags in a JSON Schema that accepts no others', () => {
    for (const { parameters } of versions) {
      const validate = new Ajv({ strict: false }).compile(parameters);
      expect([validate({}), validate({ no_such_flag: 1 })]).toEqual([true, false]);
      const { properties } = parameters as { properties: Record<string, object> };
      for (const [name, schema] of Object.entries(properties)) {
        expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
        expect(schema, name).toEqual(
          expect.objectContaining('enum' in schema ? { enum: expect.any(Array) } : { type: expect.anything() }),
        );
      }
    }
  });

  it('marks the flags that run code or name files', () => {
    const names =
      /trust_remote|plugin|module|middleware|chat_template$|_file$|_path$|_paths$|_dir$|_folder$|^tokenizer$/;
    for (const { command, parameters } of versions) {
      // A template of llama.cpp is the text itself.
      const isText = (name: string) => name === 'chat_template' && command[0] === 'llama-server';
      const { properties } = parameters as { properties: Record<string, object> };
      for (const [name, schema] of Object.entries(properties)) {
        if (!names.test(name) || isText(name)) continue;
        expect('x-needs-admin' in schema || 'x-host-path' in schema, name).toBe(true);
      }
    }
  });

  it('lets operators set no variable that loads code', () => {
    for (const { allowed_env = [] } of versions) {
      for (const one of allowed_env) {
        expect(one).toMatch(/^[A-Z_][A-Z0-9_]*\*?$/);
        expect(isLoaderVariable(one.replace('*', 'X')), one).toBe(false);
      }
    }
  });

  it('reports readiness at a path', () => {
    for (const { health_path = '/health' } of versions) expect(health_path).toMatch(/^\/[\w./-]*$/);
  });
}
