import { badChoice, badValue } from '../errors.js';
import type { Flag } from './flag.js';
import { describeBounds, type NumberBounds, readNumber } from './read-number.js';

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
  bounds: NumberBounds,
  spec: Spec<D>,
): Flag<number | D> {
  return {
    kind,
    placeholder: spec.placeholder ?? placeholder,
    help: spec.help,
    default: spec.default,
    defaultText: spec.defaultText ?? (spec.default === null ? '' : String(spec.default)),
    accepted: describeBounds(bounds),
    aliases: spec.aliases ?? [],
    read: (text, place) => readNumber(text, place, bounds),
  };
}

/** How many of something: whole, 0 or more unless `min` says otherwise. */
export function count<D extends number | null>(spec: Spec<D> & { min?: number; max?: number }): Flag<number | D> {
  const bounds = { min: spec.min ?? 0, max: spec.max ?? Number.MAX_SAFE_INTEGER, whole: true };
  return numeric('count', 'n', bounds, spec);
}

/** Whole microseconds of simulated time; a span of more than 11 days is a mistake unless `max` says otherwise. */
export function microseconds<D extends number | null>(
  spec: Spec<D> & { min?: number; max?: number },
): Flag<number | D> {
  return numeric('us', 'us', { min: spec.min ?? 0, max: spec.max ?? MAX_SPAN_US, whole: true }, spec);
}

/** Any finite number within the bounds given. */
export function number<D extends number | null>(spec: Spec<D> & Partial<NumberBounds>): Flag<number | D> {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, above } = spec;
  return numeric('number', 'x', above ? { min, max, above } : { min, max }, spec);
}

/** More than 0, up to `max`. */
export function positive<D extends number | null>(spec: Spec<D> & { max?: number }): Flag<number | D> {
  return number({ ...spec, min: 0, above: true });
}

/** From 0 to 1; 0 itself only where `zero` allows it. */
export function fraction(spec: Spec<number> & { zero?: boolean }): Flag<number> {
  return numeric('fraction', 'x', spec.zero ? { min: 0, max: 1 } : { min: 0, max: 1, above: true }, spec);
}

/** One of a fixed set of names. */
export function choice<D extends string | null>(spec: Spec<D> & { known: readonly string[] }): Flag<string | D> {
  return {
    kind: 'choice',
    placeholder: spec.placeholder ?? 'name',
    help: `${spec.help}: ${spec.known.join(', ')}`,
    default: spec.default,
    defaultText: spec.defaultText ?? spec.default ?? '',
    accepted: `one of ${spec.known.join(', ')}`,
    suggestions: async () => spec.known,
    aliases: spec.aliases ?? [],
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
export function text(spec: Spec<null> & { kind?: 'text' | 'file' }): Flag<string | null> {
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
  return text({ ...spec, default: null, kind: 'file' });
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
export function list<Value>(
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
