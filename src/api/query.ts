import { InputError } from '../kernel/errors.js';
import { knownNames } from '../kernel/text/nearest-name.js';
import { entriesOf, type Schema, typeOf } from '../schema/facts.js';
import { checkValue } from '../schema/read-json.js';
import { readText } from '../schema/read-text.js';
import type { QuerySection } from './api-route.js';
import { badQuery } from './errors.js';

const CODES = { invalid: 'API_QUERY', unknownKey: 'API_QUERY' };

/** The parameters of a URL by their schema, defaults filled in. Unknown and repeated ones are refused. */
export function readQuery(query: URLSearchParams, schema: QuerySection): Record<string, unknown> {
  const entries = entriesOf(schema as Schema)!;
  const given: Record<string, unknown> = {};
  for (const name of new Set(query.keys())) {
    const known = Object.keys(entries);
    if (!Object.hasOwn(entries, name)) {
      throw badQuery(name, 'unknown parameter', known.length === 0 ? 'the path takes none' : knownNames(name, known));
    }
    const values = query.getAll(name);
    if (values.length > 1) throw badQuery(name, 'is given twice', 'give it once');
    given[name] = readParameter(values[0]!, entries[name]!, name);
  }
  return checkValue(given, schema, CODES, '?') as Record<string, unknown>;
}

function readParameter(text: string, schema: Schema, name: string): unknown {
  if (typeOf(schema) !== 'boolean') return readText(text, schema, CODES, `?${name}`);
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InputError('API_QUERY', `?${name}`, `'${text}' is neither true nor false`, 'give true or false');
}
