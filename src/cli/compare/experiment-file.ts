import * as v from 'valibot';
import type { AnySection } from '../../schema/facts.js';
import { factsOf } from '../../schema/facts.js';
import { field, list, number, required, section, text } from '../../schema/fields.js';
import { readYaml } from '../../schema/read-yaml.js';
import { readInputFile } from '../../workload/input-file.js';
import { badChoice } from '../errors.js';
import type { FlagTable, FlagValues } from '../flags/flag.js';
import { variantFlags } from './compare-flags.js';
import { mergeSettings, type Setting, type Settings } from './settings.js';
import { variantSchema } from './variant-schema.js';

/** Codes of errors in experiment files of any kind. */
export const EXPERIMENT_CODES = { invalid: 'EXPERIMENT_INVALID', unknownKey: 'EXPERIMENT_UNKNOWN_KEY' };

/** An experiment whose own flags are the keys of its file. */
export interface ExperimentFile {
  kind: 'Tune' | 'Plan';
  own: FlagTable;
}

/** The keys of a file: its kind, the settings of the simulation under `base`, and the flags of the command. */
export async function experimentSchema({ kind, own }: ExperimentFile): Promise<AnySection> {
  const base = (await variantSchema(variantFlags)) as unknown as v.GenericSchema;
  const { entries } = await variantSchema(own);
  const lists = Object.entries(own).map(([name, flag]) => {
    const schema = entries[name]! as v.GenericSchema;
    if (flag.kind !== 'list' && flag.repeats !== true) return [name, schema];
    return [name, field(v.union([list(v.union([text(), number()])), text(), number()]), factsOf(schema))];
  });
  const keys = section(kind, {
    kind: required(v.literal(kind), { help: 'what the file describes', accepts: kind }),
    base: field(base, { help: "settings of the simulation: flags of 'run' or 'replay' as keys" }),
    ...Object.fromEntries(lists),
  });
  return keys as unknown as AnySection;
}

/** A file of this kind as it is written; errors carry their line and column. */
export async function parseExperimentFile(file: ExperimentFile, source: string, path: string) {
  const start = `start with 'kind: ${file.kind}'`;
  return readYaml(source, path, await experimentSchema(file), EXPERIMENT_CODES, start);
}

/** Flags and settings of a command with those of its file. What is on the command line wins. */
export async function withExperimentFile<Table extends FlagTable>(
  file: ExperimentFile,
  path: string | undefined,
  flags: FlagValues<Table>,
  settings: Settings,
): Promise<{ flags: FlagValues<Table>; settings: Settings }> {
  if (path === undefined) return { flags, settings };
  const { given, places } = await parseExperimentFile(file, (await readInputFile(path)).toString('utf8'), path);
  const { kind: _, base = {}, ...own } = given as Record<string, unknown> & { base?: Record<string, unknown> };
  const values: Record<string, unknown> = { ...flags.values };
  const fromFile = new Set<string>();
  for (const [name, value] of Object.entries(own)) {
    if (flags.given(name) || value === false) continue;
    const flag = file.own[name]!;
    const written = textOf(value, flag.repeats === true ? '\n' : ',');
    values[name] = flag.read(written, places.of(name));
    const known = await flag.names?.();
    if (known !== undefined && !known.includes(written)) throw badChoice(places.of(name), written, known);
    fromFile.add(name);
  }
  return {
    flags: {
      ...flags,
      values: values as FlagValues<Table>['values'],
      given: (name) => flags.given(name) || fromFile.has(name),
    },
    settings: mergeSettings(
      settingsUnder(base, (key) => places.of(`base.${key}`)),
      settings,
    ),
  };
}

/** The settings of a section whose keys are flags of `run` and `replay`, each read once: errors name its place. */
export function settingsUnder(base: Readonly<Record<string, unknown>>, placeOf: (key: string) => string): Settings {
  const settings = new Map<string, Setting>();
  for (const [key, given] of Object.entries(base)) {
    const name = Object.keys(variantFlags).find((one) => one === key || variantFlags[one]!.aliases.includes(key))!;
    if (given === false) continue;
    const setting = { text: textOf(given, ','), place: placeOf(key) };
    variantFlags[name]!.read(setting.text, setting.place);
    settings.set(name, setting);
  }
  return settings;
}

/** A switch that is on has the empty text. */
function textOf(value: unknown, between: string): string {
  if (Array.isArray(value)) return value.map(String).join(between);
  return value === true ? '' : String(value);
}
