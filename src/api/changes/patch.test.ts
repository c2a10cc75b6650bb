import { describe, expect, it } from 'vitest';
import { readPatch } from './patch.js';

const DOCUMENT = { a: 1, list: ['x', 'y'], map: { 'k/e~y': true, deep: { n: 1 } } };
const patched = (patch: unknown, type?: string) => readPatch(JSON.stringify(patch), type)(DOCUMENT);

describe('a merge patch', () => {
  it.each([
    [{ a: 2 }, { ...DOCUMENT, a: 2 }],
    [{ a: null }, { list: DOCUMENT.list, map: DOCUMENT.map }],
    [{ list: ['z'] }, { ...DOCUMENT, list: ['z'] }],
    [{ map: { deep: { m: 2 }, 'k/e~y': null } }, { ...DOCUMENT, map: { deep: { n: 1, m: 2 } } }],
    [{ a: { b: { c: null, d: 1 } } }, { ...DOCUMENT, a: { b: { d: 1 } } }],
    [{}, DOCUMENT],
  ])('%j', (patch, result) => {
    const before = structuredClone(DOCUMENT);
    expect(patched(patch)).toEqual(result);
    expect(patched(patch, 'application/merge-patch+json; charset=utf-8')).toEqual(result);
    expect(DOCUMENT).toEqual(before);
  });
});

describe('a JSON patch', () => {
  it.each([
    [[{ op: 'replace', path: '/a', value: 2 }], { ...DOCUMENT, a: 2 }],
    [[{ op: 'add', path: '/list/-', value: 'z' }], { ...DOCUMENT, list: ['x', 'y', 'z'] }],
    [[{ op: 'add', path: '/list/0', value: 'z' }], { ...DOCUMENT, list: ['z', 'x', 'y'] }],
    [[{ op: 'remove', path: '/list/0' }], { ...DOCUMENT, list: ['y'] }],
    [[{ op: 'remove', path: '/map/k~1e~0y' }], { ...DOCUMENT, map: { deep: { n: 1 } } }],
    [[{ op: 'move', from: '/a', path: '/b' }], { list: DOCUMENT.list, map: DOCUMENT.map, b: 1 }],
    [[{ op: 'copy', from: '/map/deep', path: '/b' }], { ...DOCUMENT, b: { n: 1 } }],
    [[{ op: 'test', path: '/map/deep', value: { n: 1 } }], DOCUMENT],
  ])('%j', (patch, result) => {
    const before = structuredClone(DOCUMENT);
    expect(patched(patch)).toEqual(result);
    expect(DOCUMENT).toEqual(before);
  });
});

describe('refused', () => {
  const copies = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/map', path: `/map/again${i}` }));
  it.each([
    ['text', 'is not a merge patch'],
    [[{ op: 'replace', path: '/none', value: 1 }], 'body[0].path: names a field that does not exist'],
    [[{ op: 'remove', path: '/list/2' }], 'body[0].path: names a field that does not exist'],
    [[{ op: 'add', path: '/list/01', value: 1 }], 'body[0].path: names a field that does not exist'],
    [[{ op: 'remove', path: '' }], 'names the whole document'],
    [[{ op: 'test', path: '/a', value: 2 }], 'body[0].value: differs from the value there'],
    [[{ op: 'add', path: '/a' }], 'body[0].value: is missing'],
    [[{ op: 'add', path: 'a', value: 1 }], 'body[0].path: is not a JSON pointer'],
    [[{ op: 'drop', path: '/a' }], 'body[0].op: is not known'],
    [[{ op: 'move', from: '/map', path: '/map/deep/x' }], 'body[0].path: is inside of from'],
    [[null], 'body[0]: is not an operation'],
    [[{ op: 'add', path: '/map/__proto__/x', value: 1 }], "'__proto__' is not a key"],
    [[{ op: 'add', path: '/a'.repeat(3000), value: 1 }], 'body[0].path: has more than 4096 characters'],
    [copies, 'copies too much'],
    [Array.from({ length: 1001 }, () => ({ op: 'test', path: '', value: 1 })), 'has 1001 operations'],
  ])('%j', (patch, message) => {
    expect(() => patched(patch)).toThrow(message);
  });

  it('is a patch of another type, one that is not JSON, and a prototype however it is spelt', () => {
    expect(() => patched({}, 'application/json-patch+json')).toThrow('is not a list of operations');
    expect(() => patched([], 'application/merge-patch+json')).toThrow('is not a merge patch');
    expect(() => readPatch('{', undefined)).toThrow('is not JSON');
    expect(() => readPatch('{"map": {"__proto\\u005f_": {"x": 1}}}', undefined)).toThrow(
      "'__proto__' is a reserved name",
    );
  });

  it.each([
    ['values', { a: Array.from({ length: 20_000 }, () => 0) }, 'holds more than 10000 values'],
    [
      'keys',
      Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 1])),
      'holds more than 10000 values',
    ],
    ['characters of a key', { ['k'.repeat(600)]: 1 }, 'has a key of more than 512 characters'],
    ['values of an operation', [{ op: 'add', path: '/a', value: Array(20_000).fill(0) }], 'more than 10000 values'],
  ])('has too many %s', (_, patch, message) => {
    expect(() => patched(patch)).toThrow(message);
  });
});
