import { expect, test } from 'vitest';
import { withBrackets } from './admin-url.js';

test.each([
  ['http://fd00:10:244::7:8081', 'http://[fd00:10:244::7]:8081'],
  ['https://::1:8081', 'https://[::1]:8081'],
  ['http://[fd00::7]:8081', 'http://[fd00::7]:8081'],
  ['http://10.0.0.7:8081', 'http://10.0.0.7:8081'],
  ['http://gateway.example:8081', 'http://gateway.example:8081'],
])('%s becomes %s', (given, url) => {
  expect(withBrackets(given)).toBe(url);
});
