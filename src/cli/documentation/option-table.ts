import type { OptionSchema } from '../../policy/options.js';
import { accepted } from '../../schema/accepted.js';
import { defaultOf, factsOf, type Schema } from '../../schema/facts.js';
import { code, markdownTable, plain } from './markdown.js';

/** Where an option can be set. */
export interface OptionPlaces {
  /** Without the dashes; undefined for an option that no flag sets. */
  flag: string | undefined;
  /** The key in a policy file. */
  fileKey: string;
}

const shownDefault = (value: unknown) =>
  typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : String(value);

/** The options of a policy as it describes them; a sentence when it has none. */
export function optionTable(options: OptionSchema<unknown>, placesOf: (option: string) => OptionPlaces): string {
  const rows = Object.entries(options as Record<string, Schema>).map(([name, option]) => {
    const { flag, fileKey } = placesOf(name);
    return [
      code(name),
      code(shownDefault(defaultOf(option))),
      plain(accepted(option)),
      plain(factsOf(option).help ?? ''),
      flag === undefined ? 'none' : code(`--${flag}`),
      code(fileKey),
    ];
  });
  if (rows.length === 0) return 'It has none.\n';
  return markdownTable([['option', 'default', 'values', 'meaning', 'flag', 'in a policy file'], ...rows]);
}
