import { fieldInvalid } from '../../errors.js';
import { momentUs } from '../records/moment.js';
import { checkedCount, shownValue } from '../records/trace-record.js';
import type { SpanText } from './span-objects.js';

const NANOS = /^\d{1,19}$/;

/** A span of OpenTelemetry: attributes as lists of keys and values, as OTLP writes them, or as a plain object. */
export class OtelSpan {
  readonly #path: string;
  readonly #source: SpanText;
  readonly #fields: Record<string, unknown>;
  readonly #attributes = new Map<string, unknown>();

  constructor(path: string, source: SpanText) {
    this.#path = path;
    this.#source = source;
    this.#fields = this.#parse();
    const { attributes } = this.#fields;
    if (Array.isArray(attributes)) {
      for (const attribute of attributes as { key?: unknown; value?: unknown }[]) {
        if (typeof attribute?.key === 'string') this.#attributes.set(attribute.key, plainValue(attribute.value));
      }
    } else if (typeof attributes === 'object' && attributes !== null) {
      for (const [key, value] of Object.entries(attributes)) this.#attributes.set(key, value);
    }
  }

  field(name: string): unknown {
    return this.#fields[name];
  }

  /** The first of these attributes that the span has. */
  attribute(...names: readonly string[]): string | undefined {
    return names.find((name) => this.#attributes.has(name));
  }

  /** An attribute as text; empty when it is absent. */
  text(name: string): string {
    const value = this.#attributes.get(name);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  }

  /** An attribute that must hold a whole number from 0; OTLP writes it as text. */
  count(name: string): number {
    const value = this.#attributes.get(name);
    const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
    return checkedCount(this, name, typeof number === 'number' ? number : Number.NaN, value);
  }

  /** When it began or ended, in microseconds since 1970: `startTimeUnixNano`, or `start_time` as a date. NaN when absent. */
  moment(which: 'start' | 'end'): number {
    const nanoField = `${which}TimeUnixNano`;
    const nanos = this.field(nanoField);
    const dateField = `${which}_time`;
    const date = this.field(dateField);
    if (nanos !== undefined) {
      const us = typeof nanos === 'number' ? Math.round(nanos / 1000) : nanosUs(String(nanos));
      if (us >= 0 && Number.isSafeInteger(us)) return us;
      throw this.invalid(nanoField, `${shownValue(nanos)} is not a time`, 'give nanoseconds since 1970');
    }
    if (date === undefined) return Number.NaN;
    const us = momentUs(String(date));
    if (!Number.isNaN(us)) return us;
    throw this.invalid(dateField, `${shownValue(date)} is not a date and time`, 'write it as 2025-05-10T08:00:01.5Z');
  }

  invalid(name: string, problem: string, hint: string): Error {
    return fieldInvalid(this.place(name), problem, hint);
  }

  /** `spans.json:14:7 (gen_ai.usage.input_tokens)`: the place of the name, or of the span that lacks it. */
  place(name: string): string {
    return `${this.#at(Math.max(0, this.#source.text.indexOf(`"${name}"`)))} (${name})`;
  }

  #at(offset: number): string {
    const { column, line, text } = this.#source;
    const before = text.slice(0, offset).split('\n');
    const last = before.at(-1)!.length + 1;
    return `${this.#path}:${line + before.length - 1}:${before.length === 1 ? column + last - 1 : last}`;
  }

  #parse(): Record<string, unknown> {
    try {
      return JSON.parse(this.#source.text) as Record<string, unknown>;
    } catch (error) {
      const offset = Number(/position (\d+)/.exec((error as Error).message)?.[1] ?? 0);
      throw fieldInvalid(this.#at(offset), 'the span is not JSON', 'write the spans as JSON');
    }
  }
}

/** The one value of `{ "intValue": "12" }`. */
function plainValue(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? Object.values(value)[0] : undefined;
}

function nanosUs(text: string): number {
  if (!NANOS.test(text)) return Number.NaN;
  const padded = text.padStart(4, '0');
  return Number(padded.slice(0, -3)) + (Number(padded.slice(-3)) >= 500 ? 1 : 0);
}
