import * as v from 'valibot';
import { isMap, isScalar } from 'yaml';
import { listOfValues, readAxisValues, type SweepAxis } from '../../experiment/sweep/axis.js';
import type { AnySection } from '../../schema/facts.js';
import { field, flag, list, listOf, map, number, required, section, text, whole } from '../../schema/fields.js';
import { readYaml } from '../../schema/read-yaml.js';
import type { YamlPlaces } from '../../schema/yaml-places.js';
import { readInputFile } from '../../workload/input-file.js';
import { variantFlags } from '../compare/compare-flags.js';
import { EXPERIMENT_CODES, settingsUnder } from '../compare/experiment-file.js';
import type { Setting, Settings } from '../compare/settings.js';
import { variantSchema } from '../compare/variant-schema.js';
import { axisIsWhole } from './plan-axes.js';

const value = v.union([number(), text(), flag]);

/** The keys of a file with `kind: Sweep`. */
export async function sweepSchema(): Promise<AnySection> {
  const base = (await variantSchema(variantFlags)) as unknown as v.GenericSchema;
  const keys = section('Sweep', {
    kind: required(v.literal('Sweep'), { help: 'what the file describes', accepts: 'Sweep' }),
    base: field(base, { help: "settings of all points: flags of 'run' or 'replay' as keys" }),
    axes: required(map('settings', v.union([list(value), value])), {
      help: 'settings that vary, each with a list of values or a range as the flag --axis takes it',
    }),
    sample: field(text(), { help: 'points to simulate, as the flag --sample takes it', defaultText: 'grid' }),
    'sample-seed': field(whole(0), { help: 'seed of the drawn points', defaultText: '42' }),
    seeds: field(v.union([whole(1, 1000), listOf(whole(0), 1, 1000)]), {
      help: 'number of seeds from 42 on, or the seeds',
      defaultText: '5; 1 for a recorded workload without jitter',
    }),
    constraints: field(list(text()), {
      help: 'conditions on results or settings, as the flag --constraint takes them',
    }),
    objective: field(text(), { help: 'what the best point is best in, as the flag --objective takes it' }),
    pareto: field(list(text()), { help: 'what the Pareto front weighs' }),
  });
  return keys as unknown as AnySection;
}

/** A text and where it was written. */
export type Placed = Setting;

/** A sweep as far as a file describes it. */
export interface SweepFile {
  base: Settings;
  axes: readonly SweepAxis[];
  sample: Placed | null;
  sampleSeed: number | null;
  seeds: number | readonly number[] | null;
  constraints: readonly Placed[];
  objective: Placed | null;
  pareto: readonly Placed[] | null;
}

interface Given {
  base?: Record<string, unknown>;
  axes: Record<string, unknown>;
  sample?: string;
  'sample-seed'?: number;
  seeds?: number | number[];
  constraints?: string[];
  objective?: string;
  pareto?: string[];
}

/** Reads a file with `kind: Sweep`; errors carry their line and column. */
export async function readSweepFile(path: string): Promise<SweepFile> {
  return parseSweepFile((await readInputFile(path)).toString('utf8'), path);
}

export async function parseSweepFile(source: string, path: string): Promise<SweepFile> {
  const { given, places } = readYaml(source, path, await sweepSchema(), EXPERIMENT_CODES, "start with 'kind: Sweep'");
  const read = given as unknown as Given;
  const placed = (text: string | undefined, key: string) =>
    text === undefined ? null : { text, place: places.of(key) };
  return {
    base: settingsUnder(read.base ?? {}, (key) => places.of(`base.${key}`)),
    axes: axisNames(places).map((name) => axisOf(name, read.axes[name] ?? [], places)),
    sample: placed(read.sample, 'sample'),
    sampleSeed: read['sample-seed'] ?? null,
    seeds: read.seeds ?? null,
    constraints: (read.constraints ?? []).map((text, i) => ({ text, place: places.of(`constraints[${i}]`) })),
    objective: placed(read.objective, 'objective'),
    pareto: read.pareto?.map((text, i) => ({ text, place: places.of(`pareto[${i}]`) })) ?? null,
  };
}

/** Also those that are left empty, which a reader of values takes for absent. */
function axisNames({ document }: YamlPlaces): string[] {
  const axes = document.get('axes', true);
  return isMap(axes) ? axes.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : [];
}

function axisOf(name: string, values: unknown, places: YamlPlaces): SweepAxis {
  // A key of a file has dots in its name: it is no path of this one.
  const place = places.at(places.offset(['axes', name]), `axes.${name}`);
  if (!Array.isArray(values)) return { name, place, values: readAxisValues(String(values), place, axisIsWhole(name)) };
  return { name, place, values: listOfValues(values.map(String), '', place) };
}
