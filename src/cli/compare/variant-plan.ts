import type { ExperimentAxis, Variant } from '../../experiment/experiment.js';
import type { PresetVariant } from '../../experiment/presets/preset.js';
import { badChoice, conflictingFlags, nothingToCompare } from '../errors.js';
import type { FlagTable } from '../flags/flag.js';
import { routingPolicyNames } from '../flags/registered-names.js';
import { mergeSettings, type Setting, type Settings } from './settings.js';

/** A variant before its flags are resolved. */
export interface PlannedVariant extends Omit<Variant, 'config' | 'workload'>, Omit<PresetVariant, 'settings'> {
  settings: Settings;
  /** The file that it comes from; empty for the command line. */
  source: string;
}

export interface VariantPlan {
  variants: PlannedVariant[];
  axis: ExperimentAxis | null;
}

/** A variant for each file or policy, and for each of these with each rate. The others are compared with the first. */
export async function planVariants(
  configs: readonly string[],
  given: Settings,
  flags: FlagTable,
): Promise<VariantPlan> {
  const series = configs.length > 0 ? await fromFiles(configs, given, flags) : await fromPolicies(given);
  const rates = splitList(given.get('rate'));
  if (series.length * Math.max(1, rates.length) < 2) throw nothingToCompare();
  if (rates.length < 2) return { variants: against(series, series[0]!.name), axis: null };
  const variants = rates.flatMap((rate) => {
    const named = series.map((one) => ({
      ...one,
      name: `${one.name}, ${rate.text}/s`,
      settings: mergeSettings(one.settings, new Map([['rate', rate]])),
      x: Number(rate.text),
    }));
    return against(named, named[0]!.name);
  });
  return { variants, axis: { title: 'load', unit: 'requests/s' } };
}

function against(variants: readonly PlannedVariant[], reference: string): PlannedVariant[] {
  return variants.map((variant) => ({ ...variant, against: variant.name === reference ? null : reference }));
}

function planned(name: string, settings: Settings, source: string): PlannedVariant {
  return { name, settings, source, against: null, isolates: '', series: name, x: null };
}

/** The command line applies to all, and takes precedence over the files. */
async function fromFiles(configs: readonly string[], given: Settings, flags: FlagTable): Promise<PlannedVariant[]> {
  const policy = given.get('routing-policy');
  if (policy !== undefined) {
    throw conflictingFlags(policy.place, 'given together with --config', 'write it into the files');
  }
  const { readConfigFile } = await import('./read-config-file.js');
  const names = shortNames(configs);
  return Promise.all(
    configs.map(async (path, i) => planned(names[i]!, mergeSettings(await readConfigFile(path, flags), given), path)),
  );
}

/** File names without folder and ending, unless two would be the same. */
function shortNames(paths: readonly string[]): string[] {
  const short = paths.map((path) => path.replace(/^.*[/\\]/, '').replace(/\.ya?ml$/, ''));
  return new Set(short).size === short.length ? short : [...paths];
}

async function fromPolicies(given: Settings): Promise<PlannedVariant[]> {
  const policies = splitList(given.get('routing-policy'));
  if (policies.length === 0) return [planned('round-robin', given, '')];
  const known = await routingPolicyNames();
  return policies.map(({ text, place }) => {
    const colon = text.indexOf(':');
    const policy = colon < 0 ? text : text.slice(0, colon);
    if (!known.includes(policy)) throw badChoice(place, policy, known);
    const own = new Map([['routing-policy', { text: policy, place }]]);
    if (colon < 0) return planned(policy, mergeSettings(withoutIdleScorers(given, policy), own), '');
    const scorers = text.slice(colon + 1).replaceAll('+', ',');
    own.set('routing-scorers', { text: scorers, place });
    return planned(`${policy} ${scorers}`, mergeSettings(given, own), '');
  });
}

/** `--routing-scorers` applies to the policies that take scorers, and to no other. */
function withoutIdleScorers(given: Settings, policy: string): Settings {
  if (policy === 'weighted') return given;
  return new Map([...given].filter(([name]) => name !== 'routing-scorers'));
}

/** The items of a list; one that is given twice counts once. */
function splitList(setting: Setting | undefined): Setting[] {
  if (setting === undefined) return [];
  const items = setting.text.split(',').map((item) => item.trim());
  return [...new Set(items)].map((text) => ({ text, place: setting.place }));
}
