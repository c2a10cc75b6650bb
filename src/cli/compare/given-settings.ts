import type { NamedPath } from '../output/output-files.js';
import { variantFlags } from './compare-flags.js';
import type { Settings } from './settings.js';

const INPUT_FILES = ['policy-config', 'hardware-config', 'trace', 'trace-header', 'trace-data'];

/** The settings of the command line that describe a simulation, and the files that they name. */
export function givenSettings({ values }: { values: object }): { settings: Settings; inputs: NamedPath[] } {
  const texts = values as Record<string, unknown>;
  const named = Object.keys(variantFlags).filter((name) => typeof texts[name] === 'string');
  const settings = new Map(named.map((name) => [name, { text: texts[name] as string, place: `--${name}` }]));
  const inputs = INPUT_FILES.flatMap((name) => {
    const setting = settings.get(name);
    return setting === undefined ? [] : [{ flag: `--${name}`, path: setting.text }];
  });
  return { settings, inputs };
}
