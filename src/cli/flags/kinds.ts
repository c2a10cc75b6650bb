import type * as v from 'valibot';
import { accepted } from '../../schema/accepted.js';
import { choicesOf, defaultOf, factsOf, requirementsOf, type Schema, typeOf } from '../../schema/facts.js';
import { above, number as numberFrom, choice as oneOf, whole } from '../../schema/fields.js';
import { badChoice, badValue } from '../errors.js';
import type { Flag } from './flag.js';
import { readNumber } from './read-number.js';

/** Rows, blocks and lengths are 32-bit columns inside. */
export const MAX_INT32 = 2 ** 31 - 1;

/** The longest latency, interval or pause: far beyond any use, and clocks stay exact microseconds. */
export const MAX_SPAN_US = 1e12;

interface Spec<Default> {
  default: Default;
  /** Only where the default itself does not read well: null, or a list. */
  defaultText?: string;
  help: string;
  placeholder?: string;
  aliases?: readonly string[];
  suggestions?: () => Promise<readonly string[]>;
}

function numeric<D extends number | null>(
  kind: Flag<unknown>['kind'],
  placeholder: string,
  schema: v.GenericSchema<number, number>,
  spec: Spec<D>,
): Flag<number | D> {
  return {
    kind,
    placeholder: spec.placeholder ?? placeholder,
    help: spec.help,
    default: spec.default,
    defaultText: spec.defaultText ?? (spec.default === null ? '' : String(spec.default)),
    accepted: accepted(schema as Schema),
    aliases: spec.aliases ?? [],
    schema,
    read: (text, place) => readNumber(text, place, schema),
  };
}

/** A count: a whole number from `min`, 0 by default. */
export function count<D extends number | null>(spec: Spec<D> & { min?: number; max?: number }): Flag<number | D> {
  return numeric('count', 'n', whole(spec.min ?? 0, spec.max), spec);
}

/** Whole microseconds of simulated time; a span of more than 11 days is refused unless `max` allows it. */
export function microseconds<D extends number | null>(
  spec: Spec<D> & { min?: number; max?: number },
): Flag<number | D> {
  return numeric('us', 'us', whole(spec.min ?? 0, spec.max ?? MAX_SPAN_US), spec);
}

/** Any finite number within the bounds given. */
export function numberFlag<D extends number | null>(spec: Spec<D> & { min?: number; max?: number }): Flag<number | D> {
  return numeric('number', 'x', numberFrom(spec.min, spec.max), spec);
}

/** More than 0, up to `max`. */
export function positive<D extends number | null>(spec: Spec<D> & { max?: number }): Flag<number | D> {
  return numeric('number', 'x', above(0, spec.max), spec);
}

/** From 0 to 1; 0 itself only where `zero` allows it. */
export function fraction(spec: Spec<number> & { zero?: boolean }): Flag<number> {
  return numeric('fraction', 'x', spec.zero ? numberFrom(0, 1) : above(0, 1), spec);
}

/** One of a fixed set of names. */
export function choiceFlag<D extends string | null>(spec: Spec<D> & { known: readonly string[] }): Flag<string | D> {
  return {
    kind: 'choice',
    placeholder: spec.placeholder ?? 'name',
    help: `${spec.help}: ${spec.known.join(', ')}`,
    default: spec.default,
    defaultText: spec.defaultText ?? spec.default ?? '',
    accepted: `one of ${spec.known.join(', ')}`,
    suggestions: async () => spec.known,
    aliases: spec.aliases ?? [],
    schema: oneOf(spec.known),
    read(text, place) {
      if (!spec.known.includes(text)) throw badChoice(place, text, spec.known);
      return text;
    },
  };
}

/** One of the names that a registry lists; the registry is loaded only when it is needed. */
export function registered<D extends string | null>(
  spec: Spec<D> & { names: () => Promise<readonly string[]> },
): Flag<string | D> {
  return {
    kind: 'choice',
    placeholder: spec.placeholder ?? 'name',
    help: spec.help,
    default: spec.default,
    defaultText: spec.defaultText ?? spec.default ?? '',
    accepted: 'a known name',
    aliases: spec.aliases ?? [],
    read: (text) => text,
    names: spec.names,
  };
}

/** Free text that must not be empty. */
export function stringFlag(spec: Spec<null> & { kind?: 'text' | 'file' }): Flag<string | null> {
  const kind = spec.kind ?? 'text';
  const placeholder = spec.placeholder ?? kind;
  return {
    kind,
    placeholder,
    help: spec.help,
    default: null,
    defaultText: spec.defaultText ?? '',
    accepted: kind === 'file' ? 'a path' : `a ${placeholder}`,
    aliases: [],
    ...(spec.suggestions === undefined ? {} : { suggestions: spec.suggestions }),
    read(given, place) {
      if (given.trim() === '')
        throw badValue(place, given, 'is empty', kind === 'file' ? 'a path' : `a ${placeholder}`);
      return given;
    },
  };
}

/** A path to a file or folder. */
export function file(spec: Omit<Spec<null>, 'default'>): Flag<string | null> {
  return stringFlag({ ...spec, default: null, kind: 'file' });
}

/** Off unless given. */
export function toggle(spec: { help: string }): Flag<boolean> {
  return {
    kind: 'switch',
    placeholder: '',
    help: spec.help,
    default: false,
    defaultText: '',
    accepted: 'nothing',
    aliases: [],
    read: () => true,
  };
}

/** A value with its own small grammar: `read` checks it. */
export function listFlag<Value>(
  spec: Spec<Value> & { accepted: string; read: (text: string, place: string) => Value },
): Flag<Value> {
  return {
    kind: 'list',
    placeholder: spec.placeholder ?? 'list',
    help: spec.help,
    default: spec.default,
    defaultText: spec.defaultText ?? '',
    accepted: spec.accepted,
    aliases: spec.aliases ?? [],
    ...(spec.suggestions === undefined ? {} : { suggestions: spec.suggestions }),
    read: spec.read,
  };
}

/** A moment, as the API has them. */
export function timeFlag(spec: { help: string; defaultText: string }): Flag<string | null> {
  const accepted = "a time with its zone, as in '2026-01-31T12:00:00Z'";
  const read = (text: string, place: string) => {
    const ms = /T.*(Z|[+-]\d\d:\d\d)$/.test(text.trim()) ? Date.parse(text.trim()) : Number.NaN;
    if (Number.isNaN(ms)) throw badValue(place, text, 'is not a time', accepted);
    return new Date(ms).toISOString();
  };
  return listFlag<string | null>({ ...spec, default: null, placeholder: 'time', accepted, read });
}

/**
 * A flag for a field that files have, too: what it takes, what it means and its default stand in the schema of the section. The
 * `flag` fact there names what differs on the command line.
 * @param changes for a flag in another unit, or with wider limits
 */
export function fieldFlag(
  field: Schema,
  changes: { readonly schema?: v.GenericSchema<number, number>; readonly help?: string; readonly unit?: 'us' } = {},
): Flag<unknown> {
  const { flag, help = '' } = factsOf(field);
  const standard = flag?.default ?? defaultOf(field);
  const spec = { default: standard, help: changes.help ?? help };
  if (typeOf(field) === 'boolean') return toggle(spec);
  const known = choicesOf(field);
  if (known !== null) return choiceFlag({ ...spec, default: standard as string, known });
  const schema = changes.schema ?? (field as v.GenericSchema<number, number>);
  const isWhole = requirementsOf(schema as Schema).has('integer');
  const [kind, placeholder] =
    changes.unit === 'us' ? (['us', 'us'] as const) : isWhole ? (['count', 'n'] as const) : (['number', 'x'] as const);
  return numeric(kind, placeholder, schema, { ...spec, default: standard as number });
}
