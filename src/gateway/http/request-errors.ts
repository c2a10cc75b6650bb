import { ApiError } from '../../protocol/errors.js';
import type { MessageErrors } from '../wire/message-errors.js';

/** Errors of malformed requests, as their responses report them. */

/** @param problem a predicate of the request, as in `has an invalid content-length` */
export const notHttp = (problem: string) =>
  new ApiError('malformed', `The request is not valid HTTP/1.1: it ${problem}.`);

export const headersTooLarge = (what: string, limit: number) =>
  new ApiError('headers_too_large', `The request's ${what} exceed the limit of ${limit} bytes.`);

export const requestTimeout = () => new ApiError('request_timeout', 'The request was not complete in time.');

export const expectationUnknown = () =>
  new ApiError('expectation_failed', 'The only supported expectation is 100-continue.');

export const requestErrors: MessageErrors = {
  malformed: notHttp,
  tooLarge: (what, limit) =>
    what === 'chunk extensions'
      ? notHttp(`has chunk extensions of more than ${limit} bytes`)
      : headersTooLarge(what, limit),
};
