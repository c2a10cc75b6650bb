import { InputError } from '../kernel/errors.js';
import { knownNames } from '../kernel/nearest-name.js';
import type { YamlErrors } from '../kernel/yaml/read-schema.js';
import { above, type Keys, type Kind, text, whole } from '../kernel/yaml/schema.js';
import type { YamlPlaces } from '../kernel/yaml/yaml-places.js';
import { BUILT_IN_SLO_PRIORITIES } from '../policy/slo-classes.js';
import { checkKey } from '../store/keys/check-key.js';
import {
  KEY_ROLES,
  type KeyLimits,
  type KeyRole,
  type KeySettings,
  LIMIT_NAMES,
  type Limits,
} from '../store/keys/key-record.js';
import { limitKey } from '../store/keys/key-view.js';
import { readTime } from './calendar.js';
import { readJsonBody } from './read-json-body.js';

const invalid = (place: string, problem: string, hint: string) => new InputError('KEY_INVALID', place, problem, hint);

const KEY_ERRORS: YamlErrors = {
  invalid,
  unknownKey: (place, key, known) => invalid(place, `unknown key '${key}'`, knownNames(key, known)),
};

const MOST = Number.MAX_SAFE_INTEGER;
/** As `twinyard keys rotate` has it. */
const DEFAULT_GRACE_S = 86_400;
const LONGEST_GRACE_S = 365 * 86_400;

const LIMITS_KIND: Kind = {
  type: 'keys',
  title: 'Limits',
  keys: Object.fromEntries(
    LIMIT_NAMES.map((name) => [
      limitKey(name),
      { kind: name.startsWith('dollars') ? above(0, MOST) : whole(1, MOST), help: name },
    ]),
  ),
};

const SETTINGS: Keys = {
  name: { kind: text(), help: 'a name' },
  tenant: { kind: text(), default: 'the name', help: 'the name of whom its requests are counted for' },
  models: { kind: { type: 'any' }, help: 'the names of the models it may ask, or null for all' },
  max_slo_class: {
    kind: text(),
    help: 'the most important class it may claim, or null for any',
  },
  role: { kind: text(KEY_ROLES), default: 'none', help: `one of ${KEY_ROLES.join(', ')}` },
  expires_at: { kind: text(), help: 'when it ends, as in 2030-01-31T00:00:00Z, or null for never' },
  limits: {
    kind: { type: 'each', name: 'models or *', of: LIMITS_KIND },
    help: 'limits by model; those under * hold for all together',
  },
};

interface SettingKeys {
  name?: string;
  tenant?: string;
  models?: unknown;
  max_slo_class?: string;
  role?: KeyRole;
  expires_at?: string;
  limits?: Record<string, Record<string, number>>;
}

/** The classes that every policy knows. */
const BUILT_IN = Object.keys(BUILT_IN_SLO_PRIORITIES);

const settingsWith = (sloClasses: readonly string[]): Keys => ({
  ...SETTINGS,
  max_slo_class: { ...SETTINGS.max_slo_class!, kind: text(sloClasses) },
});

/**
 * What `POST /api/keys` is sent: a whole key. An InputError says what is wrong with it, and where.
 * @param sloClasses those that somebody defines
 */
export function readNewKeyBody(body: string, now: number, sloClasses = BUILT_IN): KeySettings {
  const keys = { ...settingsWith(sloClasses), name: { ...SETTINGS.name!, needed: true } };
  return readSettings(body, now, keys, 'give a key, as in {"name": "reports"}') as KeySettings;
}

/** What `PATCH /api/keys/{id}` is sent: what changes. */
export function readKeyChanges(body: string, now: number, sloClasses = BUILT_IN): Partial<KeySettings> {
  return readSettings(body, now, settingsWith(sloClasses), 'give what changes, as in {"models": ["m"]}');
}

/** What `POST /api/keys/{id}/rotate` is sent, if anything: for how many seconds the text of before is still good. */
export function readRotation(body: string): { graceS: number } {
  if (body.trim() === '') return { graceS: DEFAULT_GRACE_S };
  const keys: Keys = {
    grace_s: {
      kind: whole(0, LONGEST_GRACE_S),
      default: String(DEFAULT_GRACE_S),
      help: 'seconds for the text of before',
    },
  };
  const { value } = readJsonBody(
    body,
    { type: 'keys', title: 'A rotation', keys },
    KEY_ERRORS,
    'give {"grace_s": 3600}',
  );
  return { graceS: (value as { grace_s?: number }).grace_s ?? DEFAULT_GRACE_S };
}

/** What null stands for something in: all, any, never. */
const NULLABLE: readonly string[] = ['models', 'max_slo_class', 'expires_at'];

function readSettings(body: string, now: number, keys: Keys, start: string): Partial<KeySettings> {
  const { json, places, value } = readJsonBody(body, { type: 'keys', title: 'A key', keys }, KEY_ERRORS, start);
  const given = value as SettingKeys;
  // What is empty counts as absent in files. Here it might lift a limit that somebody meant to set, so it must be said.
  const sent = json as Record<string, unknown>;
  const isNull = (key: string) => sent[key] === null && NULLABLE.includes(key);
  for (const key of Object.keys(sent)) {
    if (Object.hasOwn(given, key) || isNull(key)) continue;
    throw invalid(places.of(key), 'is empty', `give ${keys[key]!.help}`);
  }
  const { expires_at: expiresAt, limits, max_slo_class: maxSloClass, models, name, role, tenant } = given;
  const settings: Partial<KeySettings> = {
    ...(name !== undefined && { name }),
    ...(tenant !== undefined && { tenant }),
    ...(models !== undefined ? { models: modelsOf(models, places) } : isNull('models') && { models: null }),
    ...(maxSloClass !== undefined ? { maxSloClass } : isNull('max_slo_class') && { maxSloClass: null }),
    ...(role !== undefined && { role }),
    ...(expiresAt !== undefined
      ? { expiresAt: timeOf(expiresAt, now, places) }
      : isNull('expires_at') && { expiresAt: null }),
    ...(limits !== undefined && { limits: limitsOf(limits) }),
  };
  checkKey(settings, 'body');
  return settings;
}

function modelsOf(models: unknown, places: YamlPlaces): string[] {
  if (!Array.isArray(models)) throw invalid(places.of('models'), 'is not a list', `give ${SETTINGS.models!.help}`);
  models.forEach((model, i) => {
    if (typeof model !== 'string')
      throw invalid(places.of(`models[${i}]`), 'is not a name', 'give the name of a model');
  });
  return models;
}

function timeOf(given: string, now: number, places: YamlPlaces): number {
  const time = readTime(given);
  if (time !== null && time > now) return time;
  const problem = time === null ? 'is no time' : 'is over';
  throw invalid(places.of('expires_at'), `'${given}' ${problem}`, `give ${SETTINGS.expires_at!.help}`);
}

function limitsOf(given: Record<string, Record<string, number>>): KeyLimits {
  const ofModel = (limits: Record<string, number>): Limits => {
    const named = LIMIT_NAMES.filter((name) => limits[limitKey(name)] !== undefined);
    return Object.fromEntries(named.map((name) => [name, limits[limitKey(name)]!]));
  };
  return Object.fromEntries(Object.entries(given).map(([model, limits]) => [model, ofModel(limits)]));
}
