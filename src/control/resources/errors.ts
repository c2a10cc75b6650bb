import { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/nearest-name.js';

/**
 * What can be wrong with a resource somebody wrote. Codes are stable and all start with RESOURCE_. No value is repeated that
 * may be secret.
 */

export const badDocument = (place: string, problem: string, remedy: string) =>
  new InputError('RESOURCE_DOCUMENT', place, problem, remedy);

export const unknownKind = (place: string, given: string, known: readonly string[]) =>
  new InputError('RESOURCE_KIND', place, `unknown kind '${given}'`, knownNames(given, known));

export const invalidField = (place: string, problem: string, remedy: string) =>
  new InputError('RESOURCE_INVALID', place, problem, remedy);

export const unknownField = (place: string, key: string, known: readonly string[]) =>
  new InputError(
    'RESOURCE_UNKNOWN_KEY',
    place,
    `unknown key '${key}'`,
    known.length === 0 ? 'leave it out' : knownNames(key, known),
  );

export const badVariable = (place: string, problem: string, remedy: string) =>
  new InputError('RESOURCE_VARIABLE', place, problem, remedy);

export const hiddenSecret = (place: string, problem: string) =>
  new InputError('RESOURCE_SECRET', place, problem, 'give the secret itself');

/** Everything that is wrong, so that it can be put right at once. Its own line is that of the first problem. */
export class InvalidResources extends InputError {
  constructor(readonly problems: readonly InputError[]) {
    const { code, place, problem, remedy } = problems[0]!;
    const more = problems.length - 1;
    super(code, place, problem, more === 0 ? remedy : `${remedy} (and ${more} more to put right)`);
  }
}
