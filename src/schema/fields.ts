import * as v from 'valibot';
import type { Facts } from './facts.js';

/** The value of a section as written: keys with a default may be absent. */
export type Given<S extends v.GenericSchema> = v.InferInput<S>;
/** The value of a section with its defaults filled in. */
export type Value<S extends v.GenericSchema> = v.InferOutput<S>;

export type Annotated<S extends v.GenericSchema> = v.SchemaWithPipe<
  readonly [S, v.MetadataAction<v.InferOutput<S>, Facts & Record<string, unknown>>]
>;

function annotated<S extends v.GenericSchema>(schema: S, facts: Facts): Annotated<S> {
  return v.pipe(schema, v.metadata({ ...facts })) as unknown as Annotated<S>;
}

/** A key that may be absent. */
export function field<S extends v.GenericSchema>(schema: S, facts: Facts): v.OptionalSchema<Annotated<S>, undefined>;
/** A key with a default. */
export function field<S extends v.GenericSchema, const D extends v.InferInput<S>>(
  schema: S,
  facts: Facts & { readonly default: D },
): v.OptionalSchema<Annotated<S>, D>;
export function field(schema: v.GenericSchema, { default: standard, ...facts }: Facts & { default?: unknown }): Schema {
  return v.optional(annotated(schema, facts), standard);
}

/** A required key. */
export function required<S extends v.GenericSchema>(schema: S, facts: Facts): Annotated<S> {
  return annotated(schema, facts);
}

type Schema = v.GenericSchema;

/** A whole number from `min` to `max`. */
export const whole = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

/** Any finite number, from `min` to `max` where they are given. */
export const number = (min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY) =>
  v.pipe(v.number(), v.finite(), v.minValue(min), v.maxValue(max));

/** A number above `min`, up to `max`. */
export const above = (min: number, max = Number.POSITIVE_INFINITY) =>
  v.pipe(v.number(), v.finite(), v.gtValue(min), v.maxValue(max));

export const flag = v.boolean();

// Written so that validators in other languages read the pattern as well.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused
const PRINTABLE = /^[^\x00-\x1f\x7f-\x9f]*$/u;

/** Text of `least` to `most` characters, none of them a control character. */
export const text = (most = 4096, least = 1) =>
  v.pipe(v.string(), v.minLength(least), v.maxLength(most), v.regex(PRINTABLE, 'has control characters'));

/** Text of a certain form. @param accepts what a value may be, as the end of a sentence that starts with "give" */
export const pattern = (form: RegExp, accepts: string, most = 4096) =>
  v.pipe(v.string(), v.maxLength(most), v.regex(form, 'is not valid'), v.metadata({ accepts }));

/** One of these names. */
export const choice = <const Names extends readonly string[]>(names: Names) => v.picklist(names);

/** A value that is checked elsewhere. */
export const any = v.unknown();

export const list = <S extends v.GenericSchema>(of: S) => v.array(of);

/** A list of `least` to `most` entries. */
export const listOf = <S extends v.GenericSchema>(of: S, least: number, most: number) =>
  v.pipe(v.array(of), v.minLength(least), v.maxLength(most));

/** A time with its zone, as in 2030-01-31T00:00:00Z. The 30th of February is refused. */
export const time = v.pipe(v.string(), v.isoTimestamp(), v.check(isOnCalendar, 'is not a time'));

function isOnCalendar(given: string): boolean {
  const day = given.slice(0, 10);
  return !Number.isNaN(Date.parse(given)) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/**
 * A schema of maps that reports all it refuses: the library takes a list for a map with the keys 0, 1, 2, stops at the
 * first unknown key, and drops names that every object has in silence.
 * @param isRefused a key that the library passes over
 */
function mapsOnly<S extends v.GenericSchema>(schema: S, isRefused: (key: string) => boolean): S {
  const run = schema['~run'];
  return {
    ...schema,
    '~run'(dataset, config) {
      const input = dataset.value;
      if (Array.isArray(input)) {
        v._addIssue(this, 'type', dataset, config);
        return dataset;
      }
      const checked = run.call(this, dataset, config);
      const keys = typeof input === 'object' && input !== null ? Object.keys(input).filter(isRefused) : [];
      const reported = new Set(checked.issues?.map(({ path }) => (path?.length === 1 ? path[0]!.key : null)));
      for (const key of keys) if (!reported.has(key)) addKeyIssue(this, key, input as object, checked, config);
      return checked;
    },
  } as S;
}

type Run = v.GenericSchema['~run'];

function addKeyIssue(
  schema: v.GenericSchema,
  key: string,
  input: object,
  dataset: ReturnType<Run>,
  config: Parameters<Run>[1],
): void {
  const value = (input as Record<string, unknown>)[key];
  const path = [{ type: 'object', origin: 'key', input: input as Record<string, unknown>, key, value }] as const;
  v._addIssue(schema, 'key', dataset, config, { input: key, expected: 'never', path: [...path] });
}

/** Names that the library leaves out of a map. */
const RESERVED = ['__proto__', 'prototype', 'constructor'];

/**
 * A map under names of the user's choice.
 * @param names what they are: `models`, `classes`
 * @param name what a name must be
 */
export const map = <S extends v.GenericSchema>(
  names: string,
  of: S,
  name: v.GenericSchema<string, string> = v.string(),
) =>
  annotated(
    mapsOnly(v.record(name, of), (key) => RESERVED.includes(key)),
    { names },
  );

/** A map of known keys; any other key is an error. */
export const section = <const E extends v.ObjectEntries>(title: string, entries: E) =>
  Object.assign(
    annotated(
      mapsOnly(v.strictObject(entries), (key) => !Object.hasOwn(entries, key)),
      { title },
    ),
    { title },
  );

/** A value stored encrypted and never returned. @param form of what may be sent in a header, unless given */
export const secret = (
  most = 16_384,
  form = /^[\x21-\x7e]+$/,
  accepts = 'a secret of printable characters without spaces',
) => annotated(v.pipe(v.string(), v.minLength(1), v.maxLength(most), v.regex(form)), { secret: true, accepts });
