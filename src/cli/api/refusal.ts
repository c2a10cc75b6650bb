import { InvalidResources } from '../../control/resources/errors.js';
import { InputError } from '../../kernel/errors.js';
import { conflict, failedThere, forbidden, notTheApi, tokenRefused } from './errors.js';

interface Problem {
  readonly code: string;
  readonly place: string;
  readonly problem: string;
  readonly hint: string;
}

/** An error response of the API as an error of this process, with its places and the exit code it deserves. */
export function refusalOf(url: string, status: number, body: unknown): Error {
  const { code, hint, message, problems } = ((body as { error?: unknown } | null)?.error ?? {}) as Record<
    string,
    unknown
  >;
  if (typeof code !== 'string' || typeof message !== 'string' || typeof hint !== 'string')
    return notTheApi(url, status);
  if (status === 401) return tokenRefused(url, message);
  if (status === 403 && !isProblems(problems)) return forbidden(message);
  if (isProblems(problems)) {
    const found = problems.map((one) => new InputError(one.code, flagOf(one.place), one.problem, one.hint));
    return found.length === 1 ? found[0]! : new InvalidResources(found);
  }
  return status === 409 ? conflict(code, message, hint) : failedThere(code, url, message);
}

/** A query parameter comes from the flag of its name. */
function flagOf(place: string): string {
  return place === '?labels' ? '--selector' : place.replace(/^\?/, '--');
}

function isProblems(given: unknown): given is Problem[] {
  return (
    Array.isArray(given) &&
    given.length > 0 &&
    given.every((one) => ['code', 'place', 'problem', 'hint'].every((key) => typeof one?.[key] === 'string'))
  );
}
