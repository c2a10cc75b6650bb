import { describe, expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.js';

describe('canonicalJson', () => {
  test('equal values have the same text, with keys in any order', () => {
    const text = '{"a":[1,{"b":null,"c":"é\\n"}],"z":0.1}';
    expect(canonicalJson({ z: 0.1, a: [1, { c: 'é\n', b: null }] })).toBe(text);
    expect(canonicalJson(JSON.parse(text))).toBe(text);
  });

  test('members that are undefined are left out, and list items that are undefined are null', () => {
    const value = { b: undefined, a: [undefined, 1] };
    expect(canonicalJson(value)).toBe(JSON.stringify(value));
  });

  test('escapes what JSON requires and nothing else', () => {
    expect(canonicalJson({ 'ü☃': 'a"b\\c\n/\u007f😀' })).toBe('{"ü☃":"a\\"b\\\\c\\n/\u007f😀"}');
  });

  test('a list keeps its order', () => {
    expect(canonicalJson([2, 1])).not.toBe(canonicalJson([1, 2]));
  });
});
