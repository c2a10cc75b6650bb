import { isMap } from 'yaml';
import { InputError } from '../../kernel/errors.js';
import { checkNode, parseYaml } from '../../schema/read-yaml.js';
import { readInputFile } from '../../workload/input-file.js';
import type { FlagTable } from '../flags/flag.js';
import type { Setting, Settings } from './settings.js';
import { OF_ONE_RUN, variantSchema } from './variant-schema.js';

const CODES = { invalid: 'CONFIG_INVALID', unknownKey: 'CONFIG_UNKNOWN_KEY' };

/** Reads a variant from a file: the flags of `run` and `replay` as keys. */
export async function readConfigFile(path: string, flags: FlagTable): Promise<Settings> {
  const text = (await readInputFile(path)).toString('utf8');
  const schema = await variantSchema(flags);
  const { document, places } = parseYaml(text, path, CODES);
  if (document.contents === null) {
    throw new InputError(CODES.invalid, path, 'holds no keys', "write flags as in 'routing-policy: weighted'");
  }
  const own = isMap(document.contents) ? OF_ONE_RUN.find((name) => document.has(name)) : undefined;
  if (own !== undefined)
    throw new InputError(CODES.invalid, places.of(own), 'is not part of a variant', 'leave it out');
  const { given } = checkNode(document.contents, schema, places, CODES);
  const settings = new Map<string, Setting>();
  for (const [key, value] of Object.entries(given as Record<string, unknown>)) {
    const name = Object.hasOwn(flags, key) ? key : Object.keys(flags).find((one) => flags[one]!.aliases.includes(key))!;
    if (value === false) continue;
    const setting = { text: value === true ? '' : String(value), place: places.of(key) };
    flags[name]!.read(setting.text, setting.place);
    settings.set(name, setting);
  }
  return settings;
}
