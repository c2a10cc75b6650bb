import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blockKeys, hashText, PromptHash } from './prompt-hash.js';

const keysOf = (text: string, salt = 0) => {
  const bytes = Buffer.from(text);
  return Array.from(blockKeys(bytes, Math.floor(bytes.length / 8), 2, salt));
};

describe('keys of blocks', () => {
  test('are equal for the common prefix of texts, and different after it', () => {
    const word = fc.constantFrom('abcd', 'efgh', 'ijkl');
    const words = fc.array(word, { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(words, words, words, (common, a, b) => {
        const [one, two] = [[...common, ...a].join(''), [...common, ...b].join('')];
        const [first, second] = [keysOf(one), keysOf(two)];
        for (let i = 0; i < Math.min(first.length, second.length); i++) {
          const alike = one.slice(0, (i + 1) * 8) === two.slice(0, (i + 1) * 8);
          expect(first[i] === second[i]).toBe(alike);
        }
      }),
    );
  });

  test('depend on the salt', () => {
    const [plain, salted] = [keysOf('the same text all over'), keysOf('the same text all over', 7)];
    expect(plain.some((key, i) => key === salted[i])).toBe(false);
  });

  test('are numbers a cache can hold', () => {
    for (let i = 0; i < 10_000; i++) {
      const key = keysOf(`text${i}...........`)[0]!;
      expect(key).toBeGreaterThanOrEqual(0);
      expect(key).toBeLessThan(2 ** 31 - 1);
    }
  });

  test('are rarely shared by chance', () => {
    const seen = new Set(Array.from({ length: 20_000 }, (_, i) => keysOf(`${i} is a number.....`)[0]!));
    expect(seen.size).toBeGreaterThanOrEqual(19_999);
  });
});

test('a partial token counts', () => {
  const hashes = ['', 'a', 'ab', 'abc', 'abcd', 'abcde', '\u00e9'].map((text) => hashText(text));
  expect(new Set(hashes).size).toBe(hashes.length);
  const hash = new PromptHash(0);
  hash.add(Buffer.from('abcdef'), 0, 2);
  const filled = new PromptHash(0);
  filled.add(Buffer.from('abcdef\0\0'), 0, 2);
  expect(hash.value()).toBe(filled.value());
});
