import { knownNames } from '../../kernel/text/nearest-name.js';
import { shownText } from '../../kernel/text/shown-text.js';
import type { RequestBody } from '../../policy/request-features.js';
import { findJsonError } from '../../replica/catalogue/find-json-error.js';
import { badEvent } from '../errors.js';
import { MAX_INT32 } from '../flags/kinds.js';

/** An event of a fleet or of a request: one line of input. */
export type DecideEvent =
  | { type: 'replicas'; ids: readonly string[] }
  | { type: 'signals'; replica: string; queued: number; running: number; kvUtilization: number }
  | {
      type: 'request';
      id: string;
      inputTokens: number;
      blocks: readonly (number | string)[];
      /** Empty for none. */
      session: string;
      body: RequestBody | null;
    }
  | { type: 'first_token' | 'finished'; id: string };

const TYPES = ['replicas', 'signals', 'request', 'first_token', 'finished'] as const;

/** Reads a line; errors name its place and field. */
export function readEvent(line: string, place: string): DecideEvent {
  const fields = new Fields(parseObject(line, place), place);
  const type = fields.text('type') as (typeof TYPES)[number];
  switch (type) {
    case 'replicas':
      return { type, ids: fields.names('ids') };
    case 'signals':
      return {
        type,
        replica: fields.text('replica'),
        queued: fields.count('queued'),
        running: fields.count('running'),
        kvUtilization: fields.share('kv_utilization'),
      };
    case 'request':
      return {
        type,
        id: fields.text('id'),
        inputTokens: fields.count('input_tokens'),
        blocks: fields.blocks('blocks'),
        session: fields.optionalText('session_id'),
        body: fields.optionalObject('body'),
      };
    case 'first_token':
    case 'finished':
      return { type, id: fields.text('id') };
    default:
      throw badEvent(`${place} (type)`, `unknown type ${shownText(type)}`, knownNames(type, TYPES));
  }
}

function parseObject(line: string, place: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    const { offset, problem } = findJsonError(line)!;
    const problemText = `is not JSON: ${problem.replace('the file', 'the line')}`;
    throw badEvent(`${place}:${offset + 1}`, problemText, 'write one event per line');
  }
  if (!isObject(value)) throw badEvent(place, 'is not a JSON object', 'write one event per line, as {"type":...}');
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of one event, checked as they are read. */
class Fields {
  readonly #values: Record<string, unknown>;
  readonly #place: string;

  constructor(values: Record<string, unknown>, place: string) {
    this.#values = values;
    this.#place = place;
  }

  text(name: string): string {
    const value = this.#required(name);
    if (typeof value !== 'string' || value === '')
      throw this.#bad(name, 'is not a name', 'give a string that is not empty');
    return value;
  }

  optionalText(name: string): string {
    const value = this.#values[name] ?? '';
    if (typeof value !== 'string') throw this.#bad(name, 'is not a string', 'give a string, or leave it out');
    return value;
  }

  count(name: string): number {
    const value = this.#required(name);
    const fits = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_INT32;
    if (!fits) throw this.#bad(name, `${written(value)} is not a count`, `give a whole number from 0 to ${MAX_INT32}`);
    return value as number;
  }

  share(name: string): number {
    const value = this.#required(name);
    const fits = typeof value === 'number' && value >= 0 && value <= 1;
    if (!fits) throw this.#bad(name, `${written(value)} is not a share`, 'give a number from 0 to 1');
    return value as number;
  }

  names(name: string): string[] {
    const value = this.#required(name);
    const fits = Array.isArray(value) && value.every((id) => typeof id === 'string' && id !== '');
    if (!fits) throw this.#bad(name, 'is not a list of names', 'give a list of strings, none of them empty');
    const repeated = value.find((id, i) => value.indexOf(id) < i);
    if (repeated !== undefined) throw this.#bad(name, `${shownText(repeated)} appears twice`, 'name each replica once');
    return value;
  }

  blocks(name: string): (number | string)[] {
    const value = this.#required(name);
    if (!Array.isArray(value)) throw this.#bad(name, 'is not a list', 'give the ids of the prompt blocks, [] for none');
    const wrong = value.find((id) => typeof id !== 'string' && !Number.isSafeInteger(id));
    if (wrong !== undefined) {
      const hint = `give whole numbers up to ${Number.MAX_SAFE_INTEGER}, or strings`;
      throw this.#bad(name, `${written(wrong)} is not the id of a block`, hint);
    }
    return value;
  }

  optionalObject(name: string): RequestBody | null {
    const value = this.#values[name] ?? null;
    if (value !== null && !isObject(value))
      throw this.#bad(name, 'is not a JSON object', 'give the request body, or leave it out');
    return value;
  }

  #required(name: string): unknown {
    const value = this.#values[name];
    if (value === undefined) throw this.#bad(name, 'is missing', 'every event of this type has it');
    return value;
  }

  #bad(name: string, problem: string, hint: string): Error {
    return badEvent(`${this.#place} (${name})`, problem, hint);
  }
}

function written(value: unknown): string {
  return shownText(JSON.stringify(value));
}
