import { field, section } from '../../schema/fields.js';
import { checkValue } from '../../schema/read-json.js';
import { unknownClass } from './errors.js';
import type { KeySettings } from './key-record.js';
import { KEY_SCHEMA, keyName, keySpecOf } from './key-schema.js';

const CODES = { invalid: 'KEY_INVALID', unknownKey: 'KEY_INVALID' };
const NAMED_KEY = section('Key', { name: field(keyName, { help: 'name of the key' }), ...KEY_SCHEMA.entries });

/** Refuses settings that no key can have. @param place where they were given: `key`, `body` */
export function checkKey(settings: Partial<KeySettings>, place = 'key'): void {
  checkValue(keySpecOf(settings), NAMED_KEY, CODES, place);
}

/** Refuses a class that no policy defines; null is any. @param known those that policies define */
export function checkSloClass(sloClass: string | null | undefined, known: readonly string[], place: string): void {
  if (sloClass == null || known.includes(sloClass)) return;
  checkValue(sloClass, keyName, CODES, place);
  throw unknownClass(place, sloClass, known);
}
