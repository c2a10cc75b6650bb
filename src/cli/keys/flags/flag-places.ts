import { InvalidResources } from '../../../control/resources/errors.js';
import { InputError } from '../../../kernel/errors.js';
import { factsOf, type Schema } from '../../../schema/facts.js';
import { kebabCase } from '../../../schema/names.js';
import { KEY_SCHEMA } from '../../../store/keys/key-schema.js';

/** What the API finds wrong with the spec of a key, at the flag that it came from. */
export async function withFlagPlaces<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { code, hint, place, problem } = error instanceof InvalidResources ? error.problems[0]! : error;
    const [, field] = /\((?:spec|metadata)\.(\w+)/.exec(place) ?? [];
    throw field === undefined ? error : new InputError(code, `--${flagOf(field)}`, problem, hint);
  }
}

function flagOf(field: string): string {
  const schema = (KEY_SCHEMA.entries as Readonly<Record<string, unknown>>)[field];
  return (schema === undefined ? undefined : factsOf(schema as Schema).flag?.name) ?? kebabCase(field);
}
