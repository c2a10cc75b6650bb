import type * as v from 'valibot';
import { accepted } from '../../../schema/accepted.js';
import { factsOf, requirementsOf, type Schema } from '../../../schema/facts.js';
import { kebabCase } from '../../../schema/names.js';
import { readText } from '../../../schema/read-text.js';
import { KEY_LIMITS_SCHEMA } from '../../../store/keys/key-schema.js';
import { badChoice, badValue } from '../../errors.js';
import type { Flag } from '../../flags/flag.js';
import { listFlag } from '../../flags/kinds.js';

/** Limits of a model by key: `requests_per_minute`. */
type ModelLimits = Readonly<Record<string, number | undefined>>;

/** Changes of the limits of a model: a number sets one, null removes it. */
export interface LimitChange {
  readonly model: string;
  readonly limits: Readonly<Record<string, number | null>>;
}

const ALL_MODELS = '*';
const FLAG_CODES = { invalid: 'BAD_VALUE', unknownKey: 'BAD_VALUE' };

/** Every limit by its flag, `requests-per-minute`. */
const LIMITS = new Map(
  Object.entries(KEY_LIMITS_SCHEMA.entries).map(([key, schema]) => [kebabCase(key), { key, schema }]),
);

const EXAMPLE = "a model with its limits, as in 'model=llama-8b,requests-per-minute=5'";

/** A number, or `none` to remove the limit. */
function readLimit(text: string, place: string, schema: v.GenericSchema): number | null {
  return text.trim() === 'none' ? null : (readText(text, schema, FLAG_CODES, place) as number);
}

function limitFlag(schema: v.GenericSchema): Flag<number | null | undefined> {
  return listFlag<number | null | undefined>({
    default: undefined,
    placeholder: requirementsOf(schema as Schema).has('integer') ? 'n' : 'x',
    accepted: `${accepted(schema as Schema)}, or none`,
    help: factsOf(schema as Schema).help!,
    read: (text, place) => readLimit(text, place, schema),
  });
}

/** Limits over all models together, and `--limit` for those of one model. */
export const limitFlags = {
  ...Object.fromEntries([...LIMITS].map(([flag, { schema }]) => [flag, limitFlag(schema)])),
  limit: {
    ...listFlag<readonly LimitChange[]>({
      default: [],
      placeholder: 'limits',
      accepted: EXAMPLE,
      help: "limits of one model, as in 'model=llama-8b,requests-per-minute=5'; repeat it for each model",
      read: (text, place) => text.split('\n').map((one) => readLimitChange(one, place)),
    }),
    repeats: true,
  } as Flag<readonly LimitChange[]>,
};

function readLimitChange(text: string, place: string): LimitChange {
  let model: string | undefined;
  const limits: Record<string, number | null> = {};
  for (const item of text.split(',')) {
    const at = item.indexOf('=');
    const name = item.slice(0, Math.max(at, 0)).trim();
    const value = item.slice(at + 1).trim();
    if (name === '' || value === '') throw badValue(place, item, 'is not of the form name=value', EXAMPLE);
    if (name === 'model') {
      if (model !== undefined) throw badValue(place, text, 'names two models', EXAMPLE);
      model = value;
      continue;
    }
    const limit = LIMITS.get(name);
    if (limit === undefined) throw badChoice(place, name, ['model', ...LIMITS.keys()]);
    if (limits[limit.key] !== undefined) throw badValue(place, name, 'appears twice', EXAMPLE);
    limits[limit.key] = readLimit(value, `${place} (${name})`, limit.schema);
  }
  if (model === undefined) throw badValue(place, text, 'names no model', EXAMPLE);
  if (Object.keys(limits).length === 0) throw badValue(place, text, 'has no limit', EXAMPLE);
  return { model, limits };
}

/** The changes that the flags give, those over all models first. */
export function limitChanges(values: Readonly<Record<string, unknown>>): LimitChange[] {
  const all: Record<string, number | null> = {};
  for (const [flag, { key }] of LIMITS) {
    const value = values[flag] as number | null | undefined;
    if (value !== undefined) all[key] = value;
  }
  const changes = values.limit as readonly LimitChange[];
  return Object.keys(all).length === 0 ? [...changes] : [{ model: ALL_MODELS, limits: all }, ...changes];
}

/** The limits after some changes; a model without limits is left out. */
export function changedLimits(
  before: Readonly<Record<string, ModelLimits>>,
  changes: readonly LimitChange[],
): Record<string, ModelLimits> {
  const after = new Map<string, ModelLimits>(Object.entries(before));
  for (const { model, limits } of changes) {
    const merged = Object.entries({ ...after.get(model), ...limits }).filter(([, value]) => value !== null);
    after.set(model, Object.fromEntries(merged) as ModelLimits);
  }
  return Object.fromEntries([...after].filter(([, limits]) => Object.keys(limits).length > 0));
}
