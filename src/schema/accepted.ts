import {
  bare,
  choicesOf,
  entriesOf,
  factsOf,
  isNullable,
  itemOf,
  optionsOf,
  requirementsOf,
  type Schema,
  typeOf,
} from './facts.js';

/** What a value may be, as the end of a sentence that starts with "give": "a whole number from 1 to 64". */
export function accepted(schema: Schema): string {
  const { accepts, names } = factsOf(schema);
  if (accepts !== undefined) return accepts;
  const nullable = isNullable(schema) ? ', or null' : '';
  return `${acceptedBare(bare(schema), names ?? 'names')}${nullable}`;
}

function acceptedBare(schema: Schema, names: string): string {
  switch (typeOf(schema)) {
    case 'number':
      return acceptedNumber(requirementsOf(schema));
    case 'boolean':
      return 'true or false';
    case 'picklist':
      return `one of ${choicesOf(schema)!
        .map((name) => name || "''")
        .join(', ')}`;
    case 'string':
      return acceptedText(requirementsOf(schema));
    case 'array':
      return acceptedList(itemOf(schema)!, requirementsOf(schema));
    case 'union':
      return optionsOf(schema)!.map(accepted).join(', or ');
    case 'record':
      return `${names}, each with ${accepted(itemOf(schema)!)}`;
    case 'strict_object':
      return `its keys: ${Object.keys(entriesOf(schema)!).join(', ')}`;
    default:
      return 'a value';
  }
}

function acceptedList(item: Schema, requirements: ReadonlyMap<string, unknown>): string {
  const most = requirements.get('max_length') as number | undefined;
  const noun = most === undefined ? 'a list' : `a list of at most ${most}`;
  const entries = entriesOf(item);
  if (entries === null) return `${noun}, each ${accepted(item)}`;
  return `${noun}${most === undefined ? ' of' : ''} entries with the keys ${Object.keys(entries).join(', ')}`;
}

function acceptedNumber(requirements: ReadonlyMap<string, unknown>): string {
  const noun = requirements.has('integer') ? 'a whole number' : 'a number';
  const above = requirements.get('gt_value') as number | undefined;
  const min = (above ?? requirements.get('min_value') ?? Number.NEGATIVE_INFINITY) as number;
  const max = (requirements.get('max_value') ?? Number.POSITIVE_INFINITY) as number;
  const hasMax = max < Number.MAX_SAFE_INTEGER;
  if (min === Number.NEGATIVE_INFINITY) return hasMax ? `${noun} up to ${max}` : noun;
  if (!hasMax) return above === undefined ? `${noun} of at least ${min}` : `${noun} above ${min}`;
  return above === undefined ? `${noun} from ${min} to ${max}` : `${noun} above ${min}, at most ${max}`;
}

function acceptedText(requirements: ReadonlyMap<string, unknown>): string {
  if (requirements.has('iso_timestamp')) return 'a time, as in 2030-01-31T00:00:00Z';
  const most = requirements.get('max_length') as number | undefined;
  return most === undefined || most >= 4096 ? 'text' : `text of at most ${most} characters`;
}
