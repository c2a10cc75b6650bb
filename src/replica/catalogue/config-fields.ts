import { invalidFileField, missingField } from '../errors.js';
import { isJsonObject, type JsonFields } from './load-json.js';

/**
 * Typed access to a Hugging Face `config.json`. A multimodal model keeps its language part in `text_config`: those keys
 * take precedence over the top level. Null is the same as absent. Errors name the file and the field.
 */
export class ConfigFields {
  readonly #file: string;
  readonly #text: JsonFields;
  readonly #all: JsonFields;

  constructor(file: string, config: JsonFields) {
    const text = config.text_config ?? {};
    if (!isJsonObject(text))
      throw invalidFileField(file, 'text_config', 'is not an object', 'an object, or leave it out');
    this.#file = file;
    this.#text = text;
    this.#all = { ...config, ...text };
  }

  /** A required whole number of at least 1. */
  count(field: string): number {
    const value = this.optionalCount(field);
    if (value > 0) return value;
    if (this.#all[field] === 0) throw this.invalid(field, 'a whole number of at least 1');
    throw missingField(this.#file, field, 'a whole number of at least 1');
  }

  /** A whole number, 0 when absent. With several fields: the first that is there and not 0. */
  optionalCount(...fields: string[]): number {
    return this.firstCountFrom(1, fields);
  }

  /** The first of the fields whose value is at least `least`, else 0. */
  firstCountFrom(least: number, fields: readonly string[]): number {
    for (const field of fields) {
      const value = this.#all[field] ?? 0;
      if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
        throw this.invalid(field, 'a whole number');
      }
      if (value >= least) return value;
    }
    return 0;
  }

  text(field: string): string {
    const value = this.#all[field] ?? '';
    if (typeof value !== 'string') throw this.invalid(field, 'a text');
    return value;
  }

  flag(field: string): boolean {
    const value = this.#all[field] ?? false;
    if (typeof value !== 'boolean') throw this.invalid(field, 'true or false');
    return value;
  }

  /** The fields of a nested object, or undefined when absent. Its own errors name `field.key`. */
  nested(field: string): NestedFields | undefined {
    const value = this.#all[field] ?? undefined;
    if (value === undefined) return undefined;
    if (!isJsonObject(value)) throw this.invalid(field, 'an object');
    return new NestedFields(this.#file, this.#label(field), value);
  }

  missing(field: string, accepted: string): Error {
    return missingField(this.#file, field, accepted);
  }

  invalid(field: string, accepted: string): Error {
    const given = JSON.stringify(this.#all[field]);
    return invalidFileField(this.#file, this.#label(field), `${given} is not accepted`, accepted);
  }

  #label(field: string): string {
    return Object.hasOwn(this.#text, field) ? `text_config.${field}` : field;
  }
}

/** A nested object of the config: rope scaling, quantisation. */
export class NestedFields {
  readonly #file: string;
  readonly #path: string;
  readonly #fields: JsonFields;

  constructor(file: string, path: string, fields: JsonFields) {
    this.#file = file;
    this.#path = path;
    this.#fields = fields;
  }

  keys(): string[] {
    return Object.keys(this.#fields);
  }

  /** A number above 0, or undefined when absent. */
  positive(field: string): number | undefined {
    const value = this.#fields[field] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value !== 'number' || !(value > 0)) throw this.#invalid(field, 'a number above 0');
    return value;
  }

  text(field: string): string | undefined {
    const value = this.#fields[field] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value !== 'string') throw this.#invalid(field, 'a text');
    return value;
  }

  nested(field: string): NestedFields | undefined {
    const value = this.#fields[field] ?? undefined;
    if (value === undefined) return undefined;
    if (!isJsonObject(value)) throw this.#invalid(field, 'an object');
    return new NestedFields(this.#file, `${this.#path}.${field}`, value);
  }

  #invalid(field: string, accepted: string): Error {
    const given = JSON.stringify(this.#fields[field]);
    return invalidFileField(this.#file, `${this.#path}.${field}`, `${given} is not accepted`, accepted);
  }
}
