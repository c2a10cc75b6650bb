import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonError } from './find-json-error.js';
import { findRepeatedKey, loadJsonObject, parseJsonFile } from './load-json.js';

describe('parseJsonObject', () => {
  it('reads an object, with or without a byte order mark', () => {
    expect(parseJsonFile('{"a": [1, {"b": null}]}', 'f')).toEqual({ a: [1, { b: null }] });
    expect(parseJsonFile('\uFEFF{}', 'f')).toEqual({});
  });

  it.each([
    ['', '1:1', 'the file ends where a value should be'],
    ['abc', '1:1', 'a value expected'],
    ['{"a": 1,}', '1:9', 'a property name in double quotes expected'],
    ["{'a': 1}", '1:2', 'a property name in double quotes expected'],
    ['{"a": 1 "b": 2}', '1:9', "',' or '}' expected"],
    ['{"a": [1 2]}', '1:10', "',' or ']' expected"],
    ['{"a": [1, 2}', '1:12', "',' or ']' expected"],
    ['{"a": [1,]}', '1:10', 'a value expected'],
    ['{\n  "a": 01\n}', '2:9', "',' or '}' expected"],
    ['{\n  "a": tru\n}', '2:8', 'a value expected'],
    ['{"a": NaN}', '1:7', 'a value expected'],
    ['{"a": "x\ny"}', '1:9', 'the end of a string expected'],
    ['{"a": "\\q"}', '1:8', 'the end of a string expected'],
    ['{"a', '1:4', 'the file ends where the end of a string should be'],
    ['{"a"', '1:5', "the file ends where ':' should be"],
    ['{"a": {"b": 1}', '1:15', "the file ends where ',' or '}' should be"],
    ['{} {}', '1:4', 'the end of the file expected'],
    ['{"a": 1 // note\n}', '1:9', "',' or '}' expected"],
  ])('places the error in %j', (text, at, problem) => {
    expect(() => parseJsonFile(text, 'f.json')).toThrow(
      expect.objectContaining({ code: 'MALFORMED_JSON', place: `f.json:${at}`, problem }),
    );
  });

  it.each(['[]', '1', 'null', '"x"'])('refuses %s at the top', (text) => {
    expect(() => parseJsonFile(text, 'f.json')).toThrow(
      expect.objectContaining({ code: 'INVALID_FIELD', place: 'f.json (top level)' }),
    );
  });
});

describe('findJsonError', () => {
  it('agrees with JSON.parse about what is JSON', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '1',
      '-',
      '0',
      '.5',
      'e3',
      'null',
      ' ',
      '\\n',
    );
    const damaged = fc.tuple(fc.json(), fc.nat(), token).map(([text, at, insert]) => {
      const cut = at % (text.length + 1);
      return text.slice(0, cut) + insert + text.slice(cut + (at % 2));
    });
    const soup = fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join(''));
    const isJson = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(fc.oneof(fc.json(), damaged, soup), (text) => {
        const error = findJsonError(text);
        expect(error === undefined).toBe(isJson(text));
        if (error !== undefined) expect(error.offset).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 2000, seed: 1 },
    );
  });
});

describe('loadJsonObject', () => {
  it('names a missing file', () => {
    expect(() => loadJsonObject('/nowhere/f.json')).toThrow(
      expect.objectContaining({
        code: 'FILE_NOT_READABLE',
        place: '/nowhere/f.json',
        problem: expect.stringContaining('no such file'),
      }),
    );
  });
});

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
