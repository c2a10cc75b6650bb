import type * as v from 'valibot';
import type { SchemaCodes } from '../../schema/problems.js';
import { readText } from '../../schema/read-text.js';

export const FLAG_CODES: SchemaCodes = { invalid: 'BAD_VALUE', unknownKey: 'BAD_CHOICE' };

/** A number given to a flag, checked by its schema. */
export function readNumber(text: string, place: string, schema: v.GenericSchema<number, number>): number {
  return readText(text, schema, FLAG_CODES, place);
}
