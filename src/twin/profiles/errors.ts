import { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/text/nearest-name.js';

/** The InputErrors of profiles. Codes are stable. */

export const unknownProfileEngine = (endpoint: string, engine: string, known: readonly string[]) =>
  new InputError(
    'PROFILE_ENGINE_UNKNOWN',
    `endpoint '${endpoint}'`,
    `has no engine '${engine}'`,
    known.length === 0 ? 'it has no replica with an engine' : knownNames(engine, known),
  );

export const nothingToPin = (endpoint: string, engine: string) =>
  new InputError(
    'PROFILE_MISSING',
    `endpoint '${endpoint}', engine '${engine}'`,
    'has no profile yet',
    'wait until one is fitted, or give one',
  );
