import { expect, test } from 'vitest';
import { ApiError, ERROR_KINDS, errorBody } from './errors.js';

test('an error has a status and a body of the usual shape', () => {
  const error = new ApiError('unknown_model', 'no such model', 'model');
  expect(error.status).toBe(404);
  expect(errorBody(error)).toEqual({
    error: { message: 'no such model', type: 'invalid_request_error', param: 'model', code: 'model_not_found' },
  });
});

test('every kind is an error, and a client error exactly when the client can fix it', () => {
  for (const [kind, { status, type }] of Object.entries(ERROR_KINDS)) {
    expect(status, kind).toBeGreaterThanOrEqual(400);
    expect(type === 'server_error', kind).toBe(status >= 500 && type !== 'timeout_error');
  }
});
