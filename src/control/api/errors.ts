import { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/nearest-name.js';
import { isStoreFailure } from '../../store/database/errors.js';
import type { KeyRole } from '../../store/keys/key-record.js';
import { ResourceConflict } from '../../store/resources/resource-errors.js';
import { ModelError } from '../models/errors.js';
import { InvalidResources } from '../resources/errors.js';
import { kindNamed, listCommand } from '../resources/kinds.js';
import { DEFAULT_WORKSPACE } from '../resources/resource.js';
import { resourceView } from '../store/resource-view.js';
import { type ControlResponse, failed } from './control-route.js';

export const badQuery = (name: string, problem: string, hint: string) =>
  new InputError('API_QUERY', `?${name}`, problem, hint);

export const otherThanPath = (place: string, given: string, wanted: string) =>
  new InputError('API_PATH', place, `is '${given}', and the path says '${wanted}'`, 'let both say the same');

export const unknownReplica = (given: string, known: readonly string[]) =>
  new InputError(
    'API_REPLICA',
    '?replica',
    `there is no replica '${given}' of it`,
    known.length === 0 ? 'it has none at present' : knownNames(given, known),
  );

/** Whoever asks may not do this. */
export class Forbidden extends Error {
  constructor(
    readonly wanted: KeyRole,
    has: KeyRole,
    where: string,
  ) {
    super(`this takes the role ${wanted} ${where}, and the key has the role ${has}`);
  }
}

const STATUS: Readonly<Record<string, number>> = {
  RESOURCE_UNKNOWN: 404,
  API_REPLICA: 404,
  MODEL_NOT_FOUND: 404,
  MODEL_VERSION_NOT_FOUND: 404,
  RESOURCE_DELETING: 409,
  RESOURCE_IN_USE: 409,
  RESOURCE_BUILT_IN: 409,
};

/** What was asked wrongly is told; what is a bug is thrown on. */
export function refusalFor(error: unknown): ControlResponse {
  if (error instanceof Forbidden) return failed(403, 'API_FORBIDDEN', error.message);
  if (error instanceof ResourceConflict) {
    const current = error.current === null ? null : resourceView(error.current);
    return failed(409, error.code, error.message, { differences: error.differences, current });
  }
  if (isStoreFailure(error))
    return failed(503, (error as InputError).code, (error as Error).message, {}, ['retry-after', '1']);
  if (error instanceof ModelError) return failed(error.transient ? 503 : 502, error.code, error.message);
  if (error instanceof InvalidResources) {
    return failed(422, error.code, error.message, { problems: error.problems.map(partsOf) });
  }
  if (error instanceof InputError) {
    const told = error.code === 'RESOURCE_UNKNOWN' ? withList(error) : error;
    return failed(STATUS[told.code] ?? 400, told.code, told.message, { problems: [partsOf(told)] });
  }
  throw error;
}

/** `Endpoint search/chat: does not exist`, with the command that lists those that do. */
function withList({ code, place, problem }: InputError): InputError {
  const [, kind = '', workspace = DEFAULT_WORKSPACE] = /^(\S+) (?:([^/]*)\/)?/.exec(place) ?? [];
  return new InputError(code, place, problem, `see '${listCommand(kindNamed(kind, place), workspace)}'`);
}

const partsOf = ({ code, place, problem, hint }: InputError) => ({ code, place, problem, hint });
