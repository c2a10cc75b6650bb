import { describe, expect, it } from 'vitest';
import { readJsonPath } from './json-path.js';
import { readJsonPathTemplate } from './json-path-template.js';

const DOCUMENT = {
  metadata: { name: 'chat', labels: { 'a.b/c': 'x', plain: 'y' } },
  spec: { replicas: 3, empty: null },
  items: [
    { name: 'one', size: 1, ready: true, tags: ['p', 'q'] },
    { name: 'two', size: 2, ready: false },
    { name: 'three', size: 3 },
  ],
};

describe('a path', () => {
  it.each([
    ['.metadata.name', ['chat']],
    ['{.metadata.name}', ['chat']],
    ['metadata.name', ['chat']],
    ['$.spec.replicas', [3]],
    ['.spec.none.deeper', []],
    ['.spec.empty', []],
    ['.__proto__', []],
    [String.raw`.metadata.labels.a\.b/c`, ['x']],
    ["['metadata']['labels']['a.b/c']", ['x']],
    ['.items[0].name', ['one']],
    ['.items[-1].name', ['three']],
    ['.items[7]', []],
    ['.items[0:2].name', ['one', 'two']],
    ['.items[1:].name', ['two', 'three']],
    ['.items[*].size', [1, 2, 3]],
    ['.metadata.labels.*', ['x', 'y']],
    ['..name', ['chat', 'one', 'two', 'three']],
    ['.items[?(@.name=="two")].size', [2]],
    ["{.items[?(@.name=='two')].size}", [2]],
    ['.items[?(@.size>=2)].name', ['two', 'three']],
    ['.items[?(@.size<2)].name', ['one']],
    ['.items[?(@.ready!=true)].name', ['two', 'three']],
    ['.items[?(@.ready)].name', ['one', 'two']],
    ['.items[?(@.size==$.spec.replicas)].name', ['three']],
    ['.items[0].tags[?(@=="q")]', ['q']],
  ])('%s', (path, found) => {
    expect(readJsonPath(path, '-o')(DOCUMENT, DOCUMENT)).toEqual(found);
  });

  it.each([
    ['', 'is empty'],
    ['.a..', 'lacks a key after a dot'],
    ['.items[', "lacks a ']'"],
    ['.items[x]', 'cannot have [x]'],
    ['.items[?(@.a==b)]', 'compares with b, which is neither a quoted text nor a number'],
    ['.a b', "has an unexpected ' '"],
  ])("'%s' is refused", (path, problem) => {
    expect(() => readJsonPath(path, '-o')).toThrow(problem);
  });
});

describe('a template', () => {
  it.each([
    ['{.metadata.name}', 'chat'],
    ['.metadata.name', 'chat'],
    ['{.items[*].name}', 'one two three'],
    ['name={.metadata.name}, {.spec}', 'name=chat, {"replicas":3,"empty":null}'],
    ['{range .items[*]}{.name}{"\\t"}{.size}{"\\n"}{end}', 'one\t1\ntwo\t2\nthree\t3\n'],
    ['{range .items[0:1]}{range .tags[*]}{@}-{$.metadata.name};{end}{end}', 'p-chat;q-chat;'],
    ["{.items[?(@.name=='two')].size}", '2'],
  ])('%s', (template, text) => {
    expect(readJsonPathTemplate(template, '-o')(DOCUMENT)).toBe(text);
  });

  it.each([
    ['{.a', "has a '{' without its pair"],
    ['{range .items[*]}{.a}', 'lacks an {end}'],
    ['{end}', 'has an {end} without a {range}'],
  ])('%s is refused', (template, problem) => {
    expect(() => readJsonPathTemplate(template, '--output')).toThrow(problem);
  });
});
