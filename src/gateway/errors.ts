import { ApiError } from '../protocol/errors.js';

/** What clients are told when the gateway itself cannot serve a request; in OpenAI's shape, one maker per cause. */

export const bodyTooLarge = (limit: number) =>
  new ApiError('too_large', `The body is larger than ${limit} bytes, the most this gateway takes.`);

export const encodingUnknown = (encoding: string) =>
  new ApiError('malformed', `Bodies with content-encoding '${encoding}' are not accepted: send it plain.`);

export const pathUnknown = (method: string, path: string) =>
  new ApiError('unknown_path', `There is no ${method} ${path} here.`);

export const methodWrong = (method: string, path: string, allowed: string) =>
  new ApiError('wrong_method', `${path} does not take ${method}: use ${allowed}.`);

export const modelUnknown = (model: string) =>
  new ApiError(
    'unknown_model',
    `No replica serves the model '${model}'. GET /v1/models lists those that are.`,
    'model',
  );

export const noReplica = (model: string, why: string) =>
  new ApiError('unavailable', `No replica can take a request for '${model}' now: ${why}.`);

export const draining = () => new ApiError('unavailable', 'This gateway is going down: try another one.');

export const upstreamBroke = (replica: string, problem: string) =>
  new ApiError('upstream_broke', `Replica ${replica} broke off: ${problem}.`);

export const upstreamTimeout = (replica: string, what: string) =>
  new ApiError('upstream_timeout', `Replica ${replica} gave no ${what} in time.`);
