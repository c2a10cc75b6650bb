import { BUILT_IN_SLO_PRIORITIES } from '../../../policy/slo-classes.js';
import { factsOf, type Schema } from '../../../schema/facts.js';
import type { Given } from '../../../schema/fields.js';
import { KEY_ROLES, KEY_SCHEMA, type KeyGrant } from '../../../store/keys/key-schema.js';
import { badValue } from '../../errors.js';
import type { Flag, FlagValues } from '../../flags/flag.js';
import { choiceFlag, listFlag, stringFlag } from '../../flags/kinds.js';
import { changedLimits, type LimitChange, limitChanges, limitFlags } from './limit-flags.js';
import { MOMENTS, type Moment, readMoment } from './read-span.js';

/** The spec of an ApiKey as a person writes it. */
export type GivenKey = Given<typeof KEY_SCHEMA>;

/** Any class. */
const ANY = 'any';
/** No grant. */
const NONE = 'none';

const BUILT_IN = Object.keys(BUILT_IN_SLO_PRIORITIES).join(', ');

/** The schema of a setting, with the additions of its flag. */
function described(key: keyof typeof KEY_SCHEMA.entries, more = '') {
  const { defaultText = '', help } = factsOf(KEY_SCHEMA.entries[key] as Schema);
  return { default: null, defaultText, help: `${help}${more}` };
}

const model: Flag<readonly string[] | null> = {
  ...stringFlag({ ...described('models', "; repeat it for each, '*' for all"), placeholder: 'name' }),
  default: null,
  repeats: true,
  read(given, place) {
    const names = given.split('\n').map((name) => name.trim());
    if (names.includes('')) throw badValue(place, given, 'is empty', 'the name of a model');
    return names;
  },
};

const EXAMPLE = "a workspace, as in 'search', with models as in 'search:llama-8b,qwen-14b', or none";

const grant: Flag<readonly KeyGrant[] | null> = {
  ...stringFlag({
    ...described(
      'grants',
      "; repeat it for each, with models as in 'search:llama-8b,qwen-14b', '*' for every workspace",
    ),
    placeholder: 'workspace',
    defaultText: 'none',
  }),
  default: null,
  repeats: true,
  read(given, place) {
    const all = given.split('\n').map((one) => one.trim());
    return all.length === 1 && all[0] === NONE ? [] : all.map((one) => readGrant(one, place));
  },
};

function readGrant(given: string, place: string): KeyGrant {
  const colon = given.indexOf(':');
  const workspace = (colon < 0 ? given : given.slice(0, colon)).trim();
  if (workspace === '') throw badValue(place, given, 'names no workspace', EXAMPLE);
  if (colon < 0) return { workspace };
  const models = given
    .slice(colon + 1)
    .split(',')
    .map((name) => name.trim());
  if (models.includes('')) throw badValue(place, given, 'has an empty model name', EXAMPLE);
  return { workspace, models };
}

/** The settings of a key. */
export const keyFlags = {
  tenant: stringFlag({ ...described('tenant'), placeholder: 'name' }),
  model,
  grant,
  'max-slo-class': stringFlag({
    ...described('max_slo_class', `: ${BUILT_IN}, one of a policy's, or ${ANY}`),
    placeholder: 'name',
  }),
  role: choiceFlag({ ...described('role'), defaultText: 'none', known: KEY_ROLES }),
  expires: listFlag<Moment | null>({
    ...described('expires_at', ": a duration ('30d'), a time, or never"),
    placeholder: 'time',
    accepted: MOMENTS,
    read: readMoment,
  }),
};

type KeyValues = FlagValues<typeof keyFlags>['values'] & FlagValues<typeof limitFlags>['values'];

/** What the flags change of a key: a setting that is undefined is removed. */
export interface KeyChanges {
  readonly settings: { readonly [Name in keyof GivenKey]?: GivenKey[Name] | undefined };
  readonly limits: readonly LimitChange[];
}

export function keyChanges(values: KeyValues, now: number): KeyChanges {
  const settings: { -readonly [Name in keyof GivenKey]?: GivenKey[Name] | undefined } = {};
  if (values.tenant !== null) settings.tenant = values.tenant;
  if (values.model !== null) settings.models = values.model.includes('*') ? undefined : [...new Set(values.model)];
  if (values.grant !== null) settings.grants = [...values.grant];
  if (values['max-slo-class'] !== null) {
    settings.max_slo_class = values['max-slo-class'] === ANY ? undefined : values['max-slo-class'];
  }
  if (values.role !== null) settings.role = values.role as GivenKey['role'];
  if (values.expires !== null) settings.expires_at = expiry(values.expires(now), now);
  return { settings, limits: limitChanges(values) };
}

function expiry(at: number | null, now: number): string | undefined {
  if (at === null) return undefined;
  const time = new Date(at).toISOString();
  if (at <= now) throw badValue('--expires', time, 'is in the past', 'a time in the future');
  return time;
}

/** A spec after some changes. */
export function changedKey(spec: GivenKey, { limits, settings }: KeyChanges): GivenKey {
  const changed = { ...spec, ...settings, limits: changedLimits(spec.limits ?? {}, limits) };
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
}

export { limitFlags };
