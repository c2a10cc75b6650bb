import { expect, it } from 'vitest';
import { upstreamAddress } from './upstream-address.js';

it.each([
  ['https://llm.example.com/v1', 'https://llm.example.com', '/v1'],
  ['https://llm.example.com/v1beta/openai/', 'https://llm.example.com', '/v1beta/openai'],
  ['http://127.0.0.1:9001', 'http://127.0.0.1:9001', '/v1'],
  ['http://127.0.0.1:9001//', 'http://127.0.0.1:9001', '/v1'],
])('%s is asked at %s with %s', (address, url, prefix) => {
  expect(upstreamAddress(address)).toEqual({ url, prefix });
});
