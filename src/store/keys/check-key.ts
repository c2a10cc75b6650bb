import { badKeyField, unknownClass } from './errors.js';
import { KEY_ROLES, type KeySettings, LIMIT_NAMES, type Limits } from './key-record.js';

const LONGEST_NAME = 200;
const MOST_MODELS = 1000;
const LATEST = 8.64e15;

/** Sums of nano-dollars stay exact. */
const MOST_DOLLARS = 9_000_000;
const MONEY = `dollars above 0, at most ${MOST_DOLLARS}`;

const CONTROL = /\p{Cc}/u;

/** Refuses what no key can have, whoever says it. `place` is where it was said: a flag's owner, or a request's body. */
export function checkKey(settings: Partial<KeySettings>, place = 'key'): void {
  const { name, tenant, models, maxSloClass, role, limits, expiresAt } = settings;
  if (name !== undefined) checkName(name, `${place} (name)`);
  if (tenant !== undefined) checkName(tenant, `${place} (tenant)`);
  if (models != null) {
    if (models.length === 0) throw badKeyField(`${place} (models)`, 'no model is allowed', 'some, or null for all');
    if (models.length > MOST_MODELS) {
      throw badKeyField(`${place} (models)`, `there are ${models.length}`, `at most ${MOST_MODELS}`);
    }
    for (const model of models) checkName(model, `${place} (models)`);
  }
  if (maxSloClass != null) checkName(maxSloClass, `${place} (max_slo_class)`);
  if (role !== undefined && !KEY_ROLES.includes(role)) {
    throw badKeyField(`${place} (role)`, 'is not known', `one of ${KEY_ROLES.join(', ')}`);
  }
  if (expiresAt != null && !(Number.isSafeInteger(expiresAt) && expiresAt >= 0 && expiresAt <= LATEST)) {
    throw badKeyField(`${place} (expires_at)`, `${expiresAt} is no time`, 'milliseconds since 1970');
  }
  for (const [model, of] of Object.entries(limits ?? {})) {
    checkName(model, `${place} (limits)`);
    checkLimits(of, `${place} (limits of ${model})`);
  }
}

/** Refuses a class that nobody defines; null is any. `known` are those that somebody does. */
export function checkSloClass(sloClass: string | null | undefined, known: readonly string[], place: string): void {
  if (sloClass == null || known.includes(sloClass)) return;
  checkName(sloClass, place);
  throw unknownClass(place, sloClass, known);
}

function checkName(name: string, place: string): void {
  if (name.trim() === '') throw badKeyField(place, 'is empty', 'a name');
  if (name.length > LONGEST_NAME) throw badKeyField(place, 'is too long', `at most ${LONGEST_NAME} characters`);
  if (CONTROL.test(name)) throw badKeyField(place, 'has control characters', 'a name that can be printed');
}

function checkLimits(limits: Limits, place: string): void {
  for (const [name, value] of Object.entries(limits)) {
    if (!(LIMIT_NAMES as readonly string[]).includes(name)) {
      throw badKeyField(place, `'${name}' is no limit`, `one of ${LIMIT_NAMES.join(', ')}`);
    }
    const money = name.startsWith('dollars');
    // A limit of 0 is no limit but an end: that is what revoking is for.
    const fits = money ? value > 0 && value <= MOST_DOLLARS : Number.isSafeInteger(value) && value > 0;
    if (!fits) throw badKeyField(place, `${name} cannot be ${value}`, money ? MONEY : 'a whole number above 0');
  }
}
