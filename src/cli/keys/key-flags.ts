import { BUILT_IN_SLO_PRIORITIES } from '../../policy/slo-classes.js';
import { KEY_ROLES, type KeyRole, type KeySettings } from '../../store/keys/key-record.js';
import { badValue } from '../errors.js';
import type { Flag, FlagValues } from '../flags/flag.js';
import { choice, list, text } from '../flags/kinds.js';
import { MOMENTS, type Moment, readMoment } from './read-span.js';

/** Any class, however important. */
const ANY = 'any';

const BUILT_IN = Object.keys(BUILT_IN_SLO_PRIORITIES).join(', ');

const model: Flag<readonly string[] | null> = {
  ...text({ default: null, placeholder: 'name', help: "a model it may ask, once for each; '*' for all" }),
  default: null,
  defaultText: '*',
  repeats: true,
  read(given, place) {
    const names = given.split('\n').map((name) => name.trim());
    if (names.includes('')) throw badValue(place, given, 'is empty', 'the name of a model');
    return names;
  },
};

/** What a key is for and what it may do. */
export const keyFlags = {
  name: text({ default: null, placeholder: 'name', help: 'what people call it' }),
  tenant: text({
    default: null,
    placeholder: 'name',
    defaultText: 'its name',
    help: 'who its requests count for where tenants share',
  }),
  model,
  'max-slo-class': text({
    default: null,
    placeholder: 'name',
    defaultText: ANY,
    help: `the most important class its requests may claim: ${BUILT_IN}, one of a policy's, or ${ANY}`,
  }),
  role: choice({
    default: null,
    defaultText: 'none',
    known: KEY_ROLES,
    help: 'what it may do on the admin port',
  }),
  expires: list<Moment | null>({
    default: null,
    placeholder: 'time',
    defaultText: 'never',
    accepted: MOMENTS,
    help: "when it ends: after a span ('30d'), at a time, or never",
    read: readMoment,
  }),
};

/** What the flags say, and only that. */
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
  return badValue('--expires', new Date(at).toISOString(), 'is over', 'a time to come');
}
