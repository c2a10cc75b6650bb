import { expect, it } from 'vitest';
import { contentKey } from './content-key.js';

it('keys a prompt by its first block, else by its session, else by itself', () => {
  expect(contentKey(7, 's', 'request_1')).toBe('block:7');
  expect(contentKey('abc', '', 'request_1')).toBe('block:abc');
  expect(contentKey(null, 's', 'request_1')).toBe('session:s');
  expect(contentKey(null, '', 'request_1')).toBe('request_1');
});
