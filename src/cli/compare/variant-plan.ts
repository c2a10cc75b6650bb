import type { ExperimentAxis, Variant } from '../../experiment/experiment.js';
import type { PresetVariant } from '../../experiment/presets/preset.js';
import { badChoice, nothingToCompare } from '../errors.js';
import type { FlagTable } from '../flags/flag.js';
import { routingPolicyNames } from '../flags/registered-names.js';
import { takesList } from './compare-flags.js';
import { mergeSettings, type Setting, type Settings } from './settings.js';

/** A variant before its flags are resolved. */
export interface PlannedVariant extends Omit<Variant, 'config' | 'workload'>, Omit<PresetVariant, 'settings'> {
  settings: Settings;
  /** The file that it comes from; empty for the command line. */
  source: string;
  /** Options of its routing policy that have no flag. */
  options?: Readonly<Record<string, unknown>>;
}

export interface VariantPlan {
  variants: PlannedVariant[];
  axis: ExperimentAxis | null;
  /** The flags that were given as lists. */
  lists: readonly string[];
}

/**
 * A variant for each file or policy, with each combination of the flags that are given as lists. The others are compared
 * with the first of the same combination; without files or policies to compare, with the first combination, unless that
 * only differs in its load.
 */
export async function planVariants(
  configs: readonly string[],
  given: Settings,
  flags: FlagTable,
): Promise<VariantPlan> {
  const lists = listedSettings(given, flags);
  const base = new Map([...given].filter(([name]) => !lists.some((list) => list.name === name)));
  const series = configs.length > 0 ? await fromFiles(configs, base, flags) : await fromPolicies(base);
  const points = combinations(lists);
  if (series.length * points.length < 2) throw nothingToCompare();
  const numeric = lists.filter(({ values }) => values.every(({ text }) => Number.isFinite(Number(text))));
  const along = numeric.find(({ name }) => name === 'rate') ?? numeric[0];
  const isNamed = series.length > 1 || configs.length > 0 || given.has('routing-policy');
  const variants = points.flatMap((point) => {
    const named = series.map((one) => atPoint(one, point, along?.name ?? null, isNamed));
    return series.length > 1 ? against(named, named[0]!.name) : named;
  });
  const compared =
    series.length > 1 || lists.every(({ name }) => name === 'rate') ? variants : against(variants, variants[0]!.name);
  return {
    variants: compared,
    axis: along === undefined ? null : axisOf(along.name),
    lists: lists.map(({ name }) => name),
  };
}

/** A flag with several values: a variant for each. */
interface ListedSetting {
  name: string;
  values: Setting[];
}

/** Lists of one value are no lists. Policies are variants of their own: a comma may follow a scorer. */
function listedSettings(given: Settings, flags: FlagTable): ListedSetting[] {
  return [...given].flatMap(([name, setting]) => {
    const flag = flags[name];
    if (flag === undefined || name === 'routing-policy' || !takesList(name, flag)) return [];
    const values = splitList(setting);
    return setting.text.includes(',') ? { name, values } : [];
  });
}

type AxisPoint = readonly { name: string; value: Setting }[];

function combinations(lists: readonly ListedSetting[]): AxisPoint[] {
  return lists.reduce<AxisPoint[]>(
    (points, { name, values }) => values.flatMap((value) => points.map((point) => [...point, { name, value }])),
    [[]],
  );
}

function atPoint(one: PlannedVariant, point: AxisPoint, along: string | null, isNamed: boolean): PlannedVariant {
  if (point.length === 0) return one;
  const text = ({ name, value }: AxisPoint[number]) => (name === 'rate' ? `${value.text}/s` : `${name} ${value.text}`);
  const own = isNamed ? [one.name] : [];
  const others = point.filter(({ name }) => name !== along).map(text);
  const x = point.find(({ name }) => name === along);
  return {
    ...one,
    name: [...own, ...point.map(text)].join(', '),
    settings: mergeSettings(one.settings, new Map(point.map(({ name, value }) => [name, value]))),
    series: [...own, ...others].join(', ') || one.name,
    x: x === undefined ? null : Number(x.value.text),
  };
}

function axisOf(name: string): ExperimentAxis {
  return name === 'rate' ? { title: 'load', unit: 'requests/s' } : { title: name, unit: '' };
}

function against(variants: readonly PlannedVariant[], reference: string): PlannedVariant[] {
  return variants.map((variant) => ({ ...variant, against: variant.name === reference ? null : reference }));
}

function planned(name: string, settings: Settings, source: string): PlannedVariant {
  return { name, settings, source, against: null, isolates: '', series: name, x: null };
}

/** The command line applies to all, and takes precedence over the files; several policies are tried with each file. */
async function fromFiles(configs: readonly string[], given: Settings, flags: FlagTable): Promise<PlannedVariant[]> {
  const { readConfigFile } = await import('./read-config-file.js');
  const names = shortNames(configs);
  const files = configs.map(async (path, i) => {
    const settings = mergeSettings(await readConfigFile(path, flags), given);
    if (!given.has('routing-policy')) return [planned(names[i]!, settings, path)];
    const policies = await fromPolicies(settings);
    return policies.map((one) => {
      const name = policies.length === 1 ? names[i]! : `${names[i]!}, ${one.name}`;
      return { ...one, name, series: name, source: path };
    });
  });
  return (await Promise.all(files)).flat();
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
  const { parsePolicyText } = await import('../../policy/bundle/policy-text.js');
  return policies.map(({ text, place }) => {
    const [name] = text.split(':');
    if (!known.includes(name!)) throw badChoice(place, name!, known);
    const { options, policy, scorers } = parsePolicyText(text, place);
    const own = new Map([['routing-policy', { text: policy, place }]]);
    if (scorers !== null) own.set('routing-scorers', { text: scorers, place });
    const base = scorers === null ? withoutIdleScorers(given, policy) : given;
    const written = [scorers ?? [], Object.entries(options).map(([option, value]) => `${option}=${value}`)].flat();
    const variant = planned([policy, written.join(',')].join(' ').trim(), mergeSettings(base, own), '');
    return Object.keys(options).length === 0 ? variant : { ...variant, options };
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
