import { type KeyLimits, LIMIT_NAMES, type Limits } from '../../store/keys/key-record.js';
import { badChoice, badValue } from '../errors.js';
import type { Flag } from '../flags/flag.js';
import { list } from '../flags/kinds.js';
import { readNumber } from '../flags/read-number.js';

type LimitName = (typeof LIMIT_NAMES)[number];

/** What to do about some limits of a model: a number sets one, null lifts it. */
export interface LimitChange {
  readonly model: string;
  readonly limits: { readonly [Name in LimitName]?: number | null };
}

const ALL_MODELS = '*';

/** `requestsPerMinute` as it is typed: `requests-per-minute`. */
const flagOf = (name: LimitName) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const NAMES = new Map(LIMIT_NAMES.map((name) => [flagOf(name), name]));

const EXAMPLE = "a model with its limits, as in 'model=llama-8b,requests-per-minute=5'";

/** A number above 0, or `none` to lift the limit. */
function readLimit(text: string, place: string, name: LimitName): number | null {
  if (text.trim() === 'none') return null;
  const most = name.startsWith('dollars') ? { min: 0, above: true, max: 9e6 } : { min: 1, max: 1e15, whole: true };
  return readNumber(text, place, most);
}

function limitFlag(name: LimitName, help: string): Flag<number | null | undefined> {
  return list<number | null | undefined>({
    default: undefined,
    placeholder: name.startsWith('dollars') ? 'x' : 'n',
    accepted: `${name.startsWith('dollars') ? 'an amount' : 'a whole number'} above 0, or none`,
    help,
    read: (text, place) => readLimit(text, place, name),
  });
}

/** Limits over all models together. */
export const limitFlags = {
  'requests-per-minute': limitFlag('requestsPerMinute', 'requests that may begin within a minute'),
  'tokens-per-minute': limitFlag('tokensPerMinute', 'input and output tokens within a minute'),
  concurrent: limitFlag('concurrent', 'requests under way at the same time'),
  'tokens-per-day': limitFlag('tokensPerDay', 'input and output tokens of a day, UTC'),
  'tokens-per-month': limitFlag('tokensPerMonth', 'input and output tokens of a month, UTC'),
  'dollars-per-day': limitFlag('dollarsPerDay', "money of a day, by the gateway's prices"),
  'dollars-per-month': limitFlag('dollarsPerMonth', "money of a month, by the gateway's prices"),
  limit: {
    ...list<readonly LimitChange[]>({
      default: [],
      placeholder: 'limits',
      accepted: EXAMPLE,
      help: "limits of one model, as in 'model=llama-8b,requests-per-minute=5'; once for each model",
      read: (text, place) => text.split('\n').map((one) => readLimitChange(one, place)),
    }),
    repeats: true,
  } as Flag<readonly LimitChange[]>,
};

function readLimitChange(text: string, place: string): LimitChange {
  let model: string | undefined;
  const limits: Partial<Record<LimitName, number | null>> = {};
  for (const item of text.split(',')) {
    const at = item.indexOf('=');
    const key = item.slice(0, Math.max(at, 0)).trim();
    const value = item.slice(at + 1).trim();
    if (key === '' || value === '') throw badValue(place, item, 'is not of the form name=value', EXAMPLE);
    if (key === 'model') {
      if (model !== undefined) throw badValue(place, text, 'names two models', EXAMPLE);
      model = value;
      continue;
    }
    const name = NAMES.get(key);
    if (name === undefined) throw badChoice(place, key, ['model', ...NAMES.keys()]);
    if (limits[name] !== undefined) throw badValue(place, key, 'appears twice', EXAMPLE);
    limits[name] = readLimit(value, `${place} (${key})`, name);
  }
  if (model === undefined) throw badValue(place, text, 'names no model', EXAMPLE);
  if (Object.keys(limits).length === 0) throw badValue(place, text, 'has no limit', EXAMPLE);
  return { model, limits };
}

type LimitValues = { readonly [Name in keyof typeof limitFlags]: unknown };

/** What the flags ask for, those over all models first. */
export function limitChanges(values: LimitValues): LimitChange[] {
  const all: Partial<Record<LimitName, number | null>> = {};
  for (const [flag, name] of NAMES) {
    const value = values[flag as keyof LimitValues] as number | null | undefined;
    if (value !== undefined) all[name] = value;
  }
  const changes = values.limit as readonly LimitChange[];
  return Object.keys(all).length === 0 ? [...changes] : [{ model: ALL_MODELS, limits: all }, ...changes];
}

/** The limits after some changes; a model without any is not named any more. */
export function changedLimits(before: KeyLimits, changes: readonly LimitChange[]): KeyLimits {
  const after = new Map<string, Limits>(Object.entries(before));
  for (const { model, limits } of changes) {
    const merged = Object.entries({ ...after.get(model), ...limits }).filter(([, value]) => value !== null);
    after.set(model, Object.fromEntries(merged));
  }
  return Object.fromEntries([...after].filter(([, limits]) => Object.keys(limits).length > 0));
}
