import { InputError } from '../../kernel/errors.js';
import { knownNames, nearestName } from '../../kernel/text/nearest-name.js';
import type { SchemaCodes } from '../../schema/problems.js';

/** What can be wrong with a resource. Codes are stable and start with RESOURCE_. No message repeats a value that may be secret. */

export const RESOURCE_CODES: SchemaCodes = { invalid: 'RESOURCE_INVALID', unknownKey: 'RESOURCE_UNKNOWN_KEY' };

export const badDocument = (place: string, problem: string, hint: string) =>
  new InputError('RESOURCE_DOCUMENT', place, problem, hint);

/** A document that would take too long to parse or to check. */
export const hostileDocument = (place: string, problem: string, hint: string) =>
  new InputError('RESOURCE_LIMIT', place, problem, hint);

/** Names in a hint, and compared for it: a store may have tens of thousands. */
const MOST_KNOWN = 100;

/** A reference to a resource that does not exist. */
export function unknownReference(place: string, problem: string, given: string, known: readonly string[]): InputError {
  const more = known.length > MOST_KNOWN ? ` and ${known.length - MOST_KNOWN} more` : '';
  const names = knownNames(given, known.slice(0, MOST_KNOWN)) + more;
  return invalidField(place, problem, known.length === 0 ? 'apply it first, or in the same file' : names);
}

export const unknownKind = (place: string, given: string, known: readonly string[]) =>
  new InputError('RESOURCE_KIND', place, `unknown kind '${given}'`, knownNames(given, known));

/** The same where a kind may be given by any of its names. @param shown the names of each kind */
export const unknownKindName = (place: string, given: string, names: readonly string[], shown: readonly string[]) => {
  const near = nearestName(given, names);
  const hint = `${near === undefined ? '' : `did you mean '${near}'? `}known: ${shown.join(', ')}`;
  return new InputError('RESOURCE_KIND', place, `unknown kind '${given}'`, hint);
};

export const invalidField = (place: string, problem: string, hint: string) =>
  new InputError(RESOURCE_CODES.invalid, place, problem, hint);

export const badVariable = (place: string, problem: string, hint: string) =>
  new InputError('RESOURCE_VARIABLE', place, problem, hint);

export const hiddenSecret = (place: string, problem: string) =>
  new InputError('RESOURCE_SECRET', place, problem, 'give the secret itself');

/** Everything that is wrong, in the order of lines. Its own message is that of the first problem. */
export class InvalidResources extends InputError {
  readonly problems: readonly InputError[];

  constructor(problems: readonly InputError[]) {
    const sorted = inOrder(problems);
    const { code, place, problem, hint } = sorted[0]!;
    const more = sorted.length - 1;
    super(code, place, problem, more === 0 ? hint : `${hint} (and ${more} more)`);
    this.problems = sorted;
  }
}

function inOrder(problems: readonly InputError[]): InputError[] {
  const positionOf = ({ place }: InputError) => /:(\d+):(\d+)/.exec(place)?.slice(1).map(Number) ?? [0, 0];
  return problems
    .map((problem) => ({ problem, at: positionOf(problem) }))
    .sort((a, b) => a.at[0]! - b.at[0]! || a.at[1]! - b.at[1]!)
    .map(({ problem }) => problem);
}
