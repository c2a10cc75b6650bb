import { describe, expect, it } from 'vitest';
import { findRepeatedKey } from './find-repeated-key.js';

describe('findRepeatedKey', () => {
  it.each([
    ['{"a": 1, "a": 2}', 'a', 9],
    ['{"a": {"b": [1], "b": 2}}', 'b', 17],
    ['[{"a": 1}, {"c": {}, "\\u0063": 1}]', 'c', 21],
  ])('finds the second one in %s', (text, key, offset) => {
    expect(findRepeatedKey(text)).toEqual({ key, offset });
  });

  it.each(['{}', '{"a": {"a": "a"}, "b": ["a", "a", {"a": 1}]}', '{"a": "x\\": {\\"a", "b": ":"}', '["a", "a"]', '3'])(
    'finds none in %s',
    (text) => {
      expect(findRepeatedKey(text)).toBeUndefined();
    },
  );
});
