import { InputError } from '../../kernel/errors.js';
import { badChoice, conflictingFlags } from '../errors.js';
import { type CommandLine, flagsOf } from '../flags/command-line.js';
import type { FlagTable, FlagValues } from '../flags/flag.js';

/** A flag's value as it was written, and where. */
export interface Setting {
  text: string;
  place: string;
}

/** Flags of `run` or `replay` by name, without the dashes. */
export type Settings = ReadonlyMap<string, Setting>;

/** Later ones win. */
export function mergeSettings(...all: readonly Settings[]): Settings {
  return new Map(all.flatMap((settings) => [...settings]));
}

/** The settings as the command itself would have read them, had they been on its command line. */
export async function settingsAsFlags<Table extends FlagTable>(
  line: CommandLine,
  settings: Settings,
  absent: { problem: string; hint: string },
): Promise<FlagValues<Table>> {
  const flags = flagsOf(line);
  for (const [name, { place }] of settings) {
    if (!Object.hasOwn(flags, name)) throw conflictingFlags(place, absent.problem, absent.hint);
  }
  const values: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(flags)) {
    const setting = settings.get(name);
    if (setting === undefined) {
      values[name] = flag.default;
      continue;
    }
    values[name] = flag.read(setting.text, setting.place);
    const known = await flag.names?.();
    if (known !== undefined && !known.includes(setting.text)) throw badChoice(setting.place, setting.text, known);
  }
  return { values: values as FlagValues<Table>['values'], operands: [], given: (name) => settings.has(name) };
}

/** Runs a function whose errors name flags; an error about a flag then names the place where it was set. */
export async function atPlaces<T>(settings: Settings, source: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const name = /^--([a-z0-9-]+)/.exec(error.place)?.[1];
    if (name === undefined) throw error;
    const place = settings.get(name)?.place ?? (source === '' ? error.place : `${source}: ${error.place}`);
    throw new InputError(error.code, place, error.problem, error.hint);
  }
}
