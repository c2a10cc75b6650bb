import { InvalidResources } from '../../control/resources/errors.js';
import { InputError } from '../../kernel/errors.js';
import { conflict, failedThere, mayNot, notControlPlane, tokenRefused } from './errors.js';

interface Said {
  readonly error?: unknown;
  readonly code?: unknown;
  readonly problems?: unknown;
}

interface Problem {
  readonly code: string;
  readonly place: string;
  readonly problem: string;
  readonly hint: string;
}

/** What a server has refused, as an error like those that are found here: with its places, and the exit code it deserves. */
export function refusalOf(url: string, status: number, body: unknown): Error {
  const { code, error, problems } = (body ?? {}) as Said;
  if (typeof error !== 'string') return notControlPlane(url, status);
  if (status === 401) return tokenRefused(url, error);
  if (status === 403) return mayNot(error);
  if (typeof code !== 'string') return notControlPlane(url, status);
  if (isProblems(problems)) {
    const found = problems.map((one) => new InputError(one.code, flagOf(one.place), one.problem, one.hint));
    return found.length === 1 ? found[0]! : new InvalidResources(found);
  }
  return status === 409 ? conflict(code, error) : failedThere(code, url, error);
}

/** What a query says was said by a flag. */
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
