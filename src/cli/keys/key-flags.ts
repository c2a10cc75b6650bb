import { BUILT_IN_SLO_PRIORITIES } from '../../policy/slo-classes.js';
import { factsOf, type Schema } from '../../schema/facts.js';
import type { KeyRole, KeySettings } from '../../store/keys/key-record.js';
import { KEY_ROLES, KEY_SCHEMA } from '../../store/keys/key-schema.js';
import { badValue } from '../errors.js';
import type { Flag, FlagValues } from '../flags/flag.js';
import { choice, list, text } from '../flags/kinds.js';
import { MOMENTS, type Moment, readMoment } from './read-span.js';

/** Any class, however important. */
const ANY = 'any';

const BUILT_IN = Object.keys(BUILT_IN_SLO_PRIORITIES).join(', ');

/** What the schema says of a setting, with what only the flag adds. */
function described(key: keyof typeof KEY_SCHEMA.entries, more = '') {
  const { defaultText = '', help } = factsOf(KEY_SCHEMA.entries[key] as Schema);
  return { default: null, defaultText, help: `${help}${more}` };
}

const model: Flag<readonly string[] | null> = {
  ...text({ ...described('models', "; repeat it for each, '*' for all"), placeholder: 'name' }),
  default: null,
  repeats: true,
  read(given, place) {
    const names = given.split('\n').map((name) => name.trim());
    if (names.includes('')) throw badValue(place, given, 'is empty', 'the name of a model');
    return names;
  },
};

/** The settings of a key, apart from its limits. */
export const keyFlags = {
  name: text({ default: null, placeholder: 'name', help: 'name of the key' }),
  tenant: text({ ...described('tenant'), placeholder: 'name' }),
  model,
  'max-slo-class': text({
    ...described('max_slo_class', `: ${BUILT_IN}, one of a policy's, or ${ANY}`),
    placeholder: 'name',
  }),
  role: choice({ ...described('role'), defaultText: 'none', known: KEY_ROLES }),
  expires: list<Moment | null>({
    ...described('expires_at', ": a duration ('30d'), a time, or never"),
    placeholder: 'time',
    accepted: MOMENTS,
    read: readMoment,
  }),
};

/** The settings that the flags give. */
export function keySettings(values: FlagValues<typeof keyFlags>['values'], now: number): Partial<KeySettings> {
  const settings: { -readonly [Name in keyof KeySettings]?: KeySettings[Name] } = {};
  if (values.name !== null) settings.name = values.name;
  if (values.tenant !== null) settings.tenant = values.tenant;
  if (values.model !== null) settings.models = values.model.includes('*') ? null : [...new Set(values.model)];
  if (values['max-slo-class'] !== null) {
    settings.maxSloClass = values['max-slo-class'] === ANY ? null : values['max-slo-class'];
  }
  if (values.role !== null) settings.role = values.role as KeyRole;
  if (values.expires !== null) {
    const at = values.expires(now);
    if (at !== null && at <= now) throw badExpiry(at);
    settings.expiresAt = at;
  }
  return settings;
}

function badExpiry(at: number): Error {
  return badValue('--expires', new Date(at).toISOString(), 'is in the past', 'a time in the future');
}
