import { z } from 'zod';
import { code, markdownTable, plain } from './markdown.js';

/** Where a person can set an option. */
export interface OptionPlaces {
  /** Without the dashes; undefined for an option that no flag sets. */
  flag: string | undefined;
  /** The key in a policy file. */
  fileKey: string;
}

interface OptionSchema {
  default?: unknown;
  description?: string;
  type?: string;
  enum?: readonly string[];
  minimum?: number;
  exclusiveMinimum?: number;
  anyOf?: readonly OptionSchema[];
}

/** The options of a policy as its schema describes them; a sentence when it has none. */
export function optionTable(options: z.ZodType, placesOf: (option: string) => OptionPlaces): string {
  const schema = z.toJSONSchema(options, { io: 'input' });
  const rows = Object.entries((schema.properties ?? {}) as Record<string, OptionSchema>).map(([name, option]) => {
    const { flag, fileKey } = placesOf(name);
    return [
      code(name),
      code(String(option.default)),
      accepted(option),
      plain(option.description ?? ''),
      flag === undefined ? 'none' : code(`--${flag}`),
      code(fileKey),
    ];
  });
  if (rows.length === 0) return 'It has none.\n';
  return markdownTable([['option', 'default', 'values', 'meaning', 'flag', 'in a policy file'], ...rows]);
}

function accepted({ anyOf, enum: names, exclusiveMinimum, minimum, type }: OptionSchema): string {
  if (anyOf !== undefined) return anyOf.map(accepted).join(' or ');
  if (names !== undefined) return names.map(code).join(', ');
  if (exclusiveMinimum !== undefined) return `${type} above ${exclusiveMinimum}`;
  if (minimum !== undefined) return `${type} from ${minimum}`;
  return { array: 'list', string: 'text' }[type!] ?? type!;
}
