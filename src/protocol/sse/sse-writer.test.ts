import { expect, test } from 'vitest';
import { SseScanner } from './sse-scanner.js';
import { isDoneEvent, SSE_DONE, sseEvent } from './sse-writer.js';

test('written events can be scanned, and the end is recognised', () => {
  const heard: [string, boolean][] = [];
  const scanner = new SseScanner({
    event: (bytes, from, to) =>
      heard.push([Buffer.from(bytes.subarray(from, to)).toString(), isDoneEvent(bytes, from, to)]),
  });
  scanner.push(Buffer.from(sseEvent('{"a":"\\n"}') + sseEvent('[DEAR]') + sseEvent('[DO NE') + SSE_DONE));
  expect(heard).toEqual([
    ['{"a":"\\n"}', false],
    ['[DEAR]', false],
    ['[DO NE', false],
    ['[DONE]', true],
  ]);
});
