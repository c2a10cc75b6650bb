import type { SweepAxis } from '../../experiment/sweep/axis.js';
import {
  type Constraint,
  contradiction,
  holds,
  isOfSettings,
  measuresOf,
  parseConstraint,
} from '../../experiment/sweep/constraint.js';
import { gpusOf, type Objective, readObjective } from '../../experiment/sweep/measure.js';
import { MOST_SWEEP_POINTS, readSample, type SweepPoint, samplePoints } from '../../experiment/sweep/sample-points.js';
import { lookUpIn, type PlannedPoint, type RefusedPoint, type Sweep } from '../../experiment/sweep/sweep.js';
import { InputError } from '../../kernel/errors.js';
import { variantFlags } from '../compare/compare-flags.js';
import { notesOf, seedsOf } from '../compare/plan-experiment.js';
import { resolveVariant } from '../compare/resolve-variant.js';
import { mergeSettings, type Setting, type Settings } from '../compare/settings.js';
import { type Diagnostics, saidOnce } from '../diagnostics.js';
import type { FlagValues } from '../flags/flag.js';
import { FileKeys, fileKeyOf } from './file-keys.js';
import { checkAxes, readAxisFlag } from './plan-axes.js';
import type { SweepFile } from './sweep-file.js';
import type { SweepOwnFlags } from './sweep-flags.js';

const SAMPLE_SEED = 42;
/** Points that are resolved at once: each reads files. */
const RESOLVED_AT_ONCE = 32;

/** Turns flags and file into a sweep: everything is read, checked and resolved. Flags win over the file. */
export async function planSweep(
  flags: FlagValues<SweepOwnFlags>,
  file: SweepFile | null,
  given: Settings,
  command: string,
  diagnostics: Diagnostics,
): Promise<Sweep> {
  const { values } = flags;
  const own = values.axis.map(readAxisFlag);
  const ofFile = (file?.axes ?? []).filter(({ name }) => !given.has(name) && own.every((axis) => axis.name !== name));
  const axes = [...ofFile, ...own];
  const ofBase = [...(file?.base ?? [])].filter(([name]) => own.every((axis) => axis.name !== name));
  const base = mergeSettings(new Map(ofBase), given);
  await checkAxes(axes, base);
  const names = [...new Set([...Object.keys(variantFlags), ...axes.map(({ name }) => name)])];
  const constraints = readConstraints(values.constraint, file, names);
  const sample = values.sample ?? (file?.sample ? readSample(file.sample.text, file.sample.place) : { kind: 'grid' });
  const sampleSeed = values['sample-seed'] ?? file?.sampleSeed ?? SAMPLE_SEED;
  const drawn = samplePoints(axes, sample, sampleSeed);
  const kept = pointsWithin(axes, drawn, base, constraints);
  const { points, refused } = await resolvePoints(axes, kept, base, constraints, diagnostics);
  const runs = points.map(({ run }) => run);
  const seeds = seedsOf(seedValues(values, file), runs);
  if (points.length * seeds.length > 10 * MOST_SWEEP_POINTS) {
    const problem = `${points.length} points with ${seeds.length} seeds are ${points.length * seeds.length} runs`;
    throw new InputError('TOO_MANY_POINTS', '--seeds', problem, 'use fewer points or seeds');
  }
  return {
    title: `Sweep of ${axes.map(({ name }) => name).join(', ')}`,
    ...{ axes, sample, sampleSeed, seeds, points, refused, constraints, command },
    excluded: drawn.length - points.length - refused.length,
    objective:
      readObjectives(
        values.objective === null ? null : [values.objective],
        file?.objective ? [file.objective] : null,
        '--objective',
        names,
      )?.[0] ?? null,
    pareto: readObjectives(values.pareto, file?.pareto ?? null, '--pareto', names),
    notes: notesOf(runs),
  };
}

function readConstraints(flags: readonly string[], file: SweepFile | null, names: readonly string[]): Constraint[] {
  const placed: Setting[] = [...(file?.constraints ?? []), ...flags.map((text) => ({ text, place: '--constraint' }))];
  const constraints = placed.map(({ text, place }) => parseConstraint(text, place, names));
  const pair = contradiction(constraints);
  if (pair === null) return constraints;
  const [one, other] = pair;
  const place = placed[constraints.indexOf(other)]!.place;
  const problem = `'${other.text}' contradicts '${one.text}': no value meets both`;
  throw new InputError('CONTRADICTING_CONSTRAINTS', place, problem, 'change or remove one of them');
}

function readObjectives(
  flag: readonly string[] | null,
  file: readonly Setting[] | null,
  name: string,
  settings: readonly string[],
): Objective[] | null {
  const placed = flag?.map((text) => ({ text, place: name })) ?? file;
  return placed?.map(({ text, place }) => readObjective(text, place, settings)) ?? null;
}

function seedValues(
  { seed, seeds }: FlagValues<SweepOwnFlags>['values'],
  file: SweepFile | null,
): { seed: number[] | null; seeds: number | null } {
  if (seed !== null || seeds !== null || file === null || file.seeds === null) return { seed, seeds };
  return typeof file.seeds === 'number' ? { seed: null, seeds: file.seeds } : { seed: [...file.seeds], seeds: null };
}

type Values = Readonly<Record<string, number | string>>;

/** The settings of a point as constraints see them: numbers where they are numbers. */
function settingsAt(axes: readonly SweepAxis[], point: SweepPoint, base: Settings): Values {
  const values: Record<string, number | string> = {};
  for (const [name, flag] of Object.entries(variantFlags)) {
    const text = base.get(name)?.text ?? flag.defaultText;
    const value = base.has(name) ? text : (flag.default ?? null);
    if (typeof value === 'number' || typeof value === 'string') values[name] = asValue(value);
  }
  for (const [i, { name }] of axes.entries()) values[name] = asValue(point[i]!);
  return values;
}

function asValue(value: number | string): number | string {
  const number = Number(value);
  return value === '' || Number.isNaN(number) ? value : number;
}

/** Points that meet all constraints over settings alone. GPUs are known only when a point is resolved. */
function pointsWithin(
  axes: readonly SweepAxis[],
  points: readonly SweepPoint[],
  base: Settings,
  constraints: readonly Constraint[],
): SweepPoint[] {
  const early = constraints.filter((one) => measuresOf(one).every(({ kind }) => kind === 'setting'));
  const met = early.map(() => 0);
  const kept = points.filter((point) => {
    const settings = settingsAt(axes, point, base);
    const holding = early.map((one) => holds(one, lookUpIn({ settings, gpus: 0 })) === true);
    for (const [i, is] of holding.entries()) if (is) met[i]!++;
    return holding.every(Boolean);
  });
  if (kept.length === 0) throw nothingWithin(early, met, points.length);
  return kept;
}

function nothingWithin(constraints: readonly Constraint[], met: readonly number[], points: number): InputError {
  const counts = constraints.map(({ text }, i) => `'${text}' is met by ${met[i]} of ${points}`);
  return new InputError(
    'NO_POINTS',
    '--constraint',
    'no point meets all constraints over settings',
    `${counts.join(', ')}: change one, or the axes`,
  );
}

/** A point that cannot be simulated is reported; where none can, the first error is that of the sweep. */
async function resolvePoints(
  axes: readonly SweepAxis[],
  values: readonly SweepPoint[],
  base: Settings,
  constraints: readonly Constraint[],
  diagnostics: Diagnostics,
): Promise<{ points: PlannedPoint[]; refused: RefusedPoint[] }> {
  const once = saidOnce(diagnostics);
  const hashes = new Map();
  const files = new FileKeys();
  const late = constraints.filter((one) => isOfSettings(one) && measuresOf(one).some(({ kind }) => kind === 'gpus'));
  const resolve = async (point: SweepPoint): Promise<PlannedPoint | { values: SweepPoint; error: InputError }> => {
    try {
      const entries = axes.map(({ name, place }, i) => ({ name, place, value: point[i]! }));
      const own = entries.filter(({ name }) => fileKeyOf(name) === null);
      const flags = mergeSettings(base, new Map(own.map(({ name, place, value }) => [name, { text: value, place }])));
      const settings = await files.applied(
        flags,
        entries.filter(({ name }) => fileKeyOf(name) !== null),
      );
      const planned = { name: '', against: null, isolates: '', series: '', x: null, source: '', settings };
      const { config, workload } = await resolveVariant(planned, once, hashes);
      return {
        values: point,
        settings: settingsAt(axes, point, base),
        gpus: gpusOf(config),
        run: { config, workload },
      };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return { values: point, error: files.renamed(error) };
    }
  };
  const points: PlannedPoint[] = [];
  const refused: { values: SweepPoint; error: InputError }[] = [];
  try {
    for (let from = 0; from < values.length; from += RESOLVED_AT_ONCE) {
      for (const one of await Promise.all(values.slice(from, from + RESOLVED_AT_ONCE).map(resolve))) {
        if ('error' in one) refused.push(one);
        else if (late.every((constraint) => holds(constraint, lookUpIn(one)) === true)) points.push(one);
      }
    }
  } finally {
    files.close();
  }
  if (points.length === 0) {
    throw (
      refused[0]?.error ??
      nothingWithin(
        late,
        late.map(() => 0),
        values.length,
      )
    );
  }
  return {
    points,
    refused: refused.map(({ error, values }) => ({ values, reason: `${error.place}: ${error.problem}` })),
  };
}
