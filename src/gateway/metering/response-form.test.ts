import { expect, test } from 'vitest';
import { type ResponseForm, responseForm } from './response-form.js';

test.each<[string[], ResponseForm]>([
  [['content-type', 'application/json'], 'json'],
  [[], 'json'],
  [['Content-Type', 'text/event-stream; charset=utf-8'], 'events'],
  [['content-type', 'Text/Event-Stream'], 'events'],
  [['content-type', 'text/event-stream', 'content-encoding', 'identity'], 'events'],
  [['Content-Encoding', 'gzip', 'content-type', 'text/event-stream'], 'opaque'],
  [['content-type', 'application/json', 'content-encoding', 'br'], 'opaque'],
  [['x-content-ty', 'text/event-stream', 'x-other-encoding', 'gzip'], 'json'],
])('%j: %s', (headers, form) => {
  expect(responseForm(headers)).toBe(form);
});
