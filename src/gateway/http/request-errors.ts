import { ApiError } from '../../protocol/errors.js';
import type { MessageErrors } from './message-errors.js';

/** What is wrong with the bytes of a request, as its sender is told. */

/** @param problem as in `has a bad length` */
export const notHttp = (problem: string) => new ApiError('malformed', `The request is not valid HTTP: it ${problem}.`);

export const headersTooLarge = (what: string, limit: number) =>
  new ApiError(
    'headers_too_large',
    `The request's ${what} are larger than ${limit} bytes, the most this gateway takes.`,
  );

export const requestTimeout = () => new ApiError('request_timeout', 'The request did not come in time.');

export const expectationUnknown = () =>
  new ApiError('expectation_failed', 'Nothing but 100-continue can be expected of this gateway.');

/** For those who read requests. */
export const requestErrors: MessageErrors = {
  malformed: notHttp,
  tooLarge: (what, limit) =>
    what === 'chunk extensions'
      ? notHttp(`has chunk extensions of more than ${limit} bytes`)
      : headersTooLarge(what, limit),
};
