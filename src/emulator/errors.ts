import { ApiError, type ErrorBody } from '../protocol/errors.js';

/** What the type of an error is called in vLLM's responses, by status. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  403: 'ForbiddenError',
  404: 'NotFoundError',
  405: 'MethodNotAllowedError',
  413: 'RequestEntityTooLargeError',
  500: 'InternalServerError',
  503: 'ServiceUnavailableError',
};

/** The body of an error, as vLLM shapes it: the code is the status. */
export function engineErrorBody({ message, status, param }: ApiError): ErrorBody {
  return { error: { message, type: TYPES[status] ?? 'InternalServerError', param, code: status } };
}

export function unknownModel(given: string): ApiError {
  return new ApiError('unknown_model', `The model \`${given}\` does not exist.`, 'model');
}

export function promptTooLong(maxModelLen: number, inputTokens: number): ApiError {
  return new ApiError(
    'malformed',
    `This model's maximum context length is ${maxModelLen} tokens. However, your request has ${inputTokens} input tokens. ` +
      'Please reduce the length of the input messages.',
  );
}

export function tooManyTokens(maxModelLen: number, inputTokens: number, maxTokens: number): ApiError {
  return new ApiError(
    'malformed',
    `'max_tokens' or 'max_completion_tokens' is too large: ${maxTokens}. This model's maximum context length is ` +
      `${maxModelLen} tokens and your request has ${inputTokens} input tokens (${maxTokens} > ${maxModelLen} - ${inputTokens}).`,
  );
}

export function engineBodyTooLarge(maxBytes: number): ApiError {
  return new ApiError('too_large', `The body is larger than ${maxBytes} bytes.`);
}

export function engineQueueFull(waiting: number): ApiError {
  return new ApiError('unavailable', `${waiting} requests are waiting already: try another engine or later.`);
}
