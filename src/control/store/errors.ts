import { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/text/nearest-name.js';
import { shownRef } from '../../store/resources/resource-errors.js';
import type { ResourceRef } from '../../store/resources/resource-record.js';

/** Conflicts between resources. Codes are stable and start with RESOURCE_. */

export const NEEDS_ADMIN = 'RESOURCE_NEEDS_ADMIN';

export const unknownWorkspace = (place: string, given: string, known: readonly string[]) =>
  new InputError(
    'RESOURCE_WORKSPACE',
    place,
    `there is no workspace '${given}'`,
    knownNames(given, known.slice(0, 100)),
  );

/** The change needs the role admin in every workspace. */
export const needsAdminRole = (place: string, problem: string, hint: string) =>
  new InputError(NEEDS_ADMIN, place, problem, hint);

export const nameTaken = (place: string, other: string) =>
  new InputError('RESOURCE_NAME_TAKEN', place, `${other} has the same path`, 'choose another name');

const MOST_SHOWN = 5;

export const resourceInUse = (ref: ResourceRef, users: readonly ResourceRef[]) => {
  const shown = users.slice(0, MOST_SHOWN).map(shownRef).join(', ');
  const more = users.length > MOST_SHOWN ? ` and ${users.length - MOST_SHOWN} more` : '';
  return new InputError('RESOURCE_IN_USE', shownRef(ref), `is used by ${shown}${more}`, 'delete or change them first');
};

export const builtIn = (ref: ResourceRef) =>
  new InputError('RESOURCE_BUILT_IN', shownRef(ref), 'is built in', "leave it, or change it with 'twinyard apply'");
