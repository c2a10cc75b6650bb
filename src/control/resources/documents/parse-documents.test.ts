import { describe, expect, it, vi } from 'vitest';
import { readDocuments, readResources } from '../read-resources.js';
import { DOCUMENT_LIMITS } from './document-limits.js';
import { holdsMoreThan } from './json-text.js';
import { parseDocuments } from './parse-documents.js';

const repeated = (times: number, text: (i: number) => string) =>
  Array.from({ length: times }, (_, i) => text(i)).join('');

/** The first problem of a text that others have sent. */
async function problemOf(text: string): Promise<string> {
  try {
    return (await readDocuments(text, 'body')).problems[0]?.message ?? '';
  } catch (error) {
    return (error as Error).message;
  }
}

const { aliases, anchors, documents, levels, marks, nodes } = DOCUMENT_LIMITS;
const TOO_DEEP = `body: is nested deeper than ${levels} levels; send a flatter document`;
const tooMany = (things: string) => `body: holds more than ${things}; send JSON, as 'twinyard apply' does`;
const MARKS = tooMany(`${marks} lines, keys and list entries in a document`);

describe('a text that others have sent', () => {
  it.each([
    ['anchors', repeated(50_000, (i) => `- &a${i} x\n`), tooMany(`${anchors} anchors`)],
    ['anchors in a flow', `[${repeated(anchors + 1, () => '&a x,')}]`, tooMany(`${anchors} anchors`)],
    ['aliases', `- &a x\n${repeated(aliases + 1, () => '- *a\n')}`, tooMany(`${aliases} aliases`)],
    ['open brackets', '['.repeat(1_000_000), TOO_DEEP],
    ['open braces', '{a: '.repeat(levels + 1), TOO_DEEP],
    ['lists of one line', '- '.repeat(levels + 1), TOO_DEEP],
    ['complex keys', '? '.repeat(levels + 1), TOO_DEEP],
    ['indented keys', repeated(levels + 1, (i) => `${' '.repeat(i)}a:\n`), TOO_DEEP],
    ['keys', repeated(200_000, (i) => `k${i}: 1\n`), MARKS],
    ['keys with CRLF', repeated(marks, (i) => `k${i}: 1\r\n`), MARKS],
    ['keys with CR', repeated(marks, (i) => `k${i}: 1\r`), MARKS],
    ['flow entries', `[${'a,'.repeat(marks)}]`, MARKS],
    ['quoted text without commas', `[${'"a"'.repeat(marks)}]`, MARKS],
    ['tags', '!<a>'.repeat(marks), MARKS],
    ['comments', '#\n'.repeat(marks), MARKS],
    ['empty lines', `a: |\n${'\n'.repeat(marks)}`, MARKS],
    ['escapes', `a: "${'\\z'.repeat(marks + 1)}`, MARKS],
    ['documents', '---\na: 1\n'.repeat(documents), tooMany(`${documents} documents`)],
    ['long text', `a: ${'x'.repeat(DOCUMENT_LIMITS.yamlLength)}`, tooMany(`${256 * 1024} characters in a document`)],
  ])('is refused before it is parsed: too many or too deep %s', async (_, text, message) => {
    expect(await problemOf(text)).toBe(message);
  });

  it('is refused with too many values, which aliases may repeat', async () => {
    const message = `holds more than ${nodes} values; split it into several resources`;
    expect(await problemOf(`[${'1,'.repeat(nodes)}1]`)).toBe(`body:1:1: ${message}`);
    expect(await problemOf(`{"a":{"b":[${'{},'.repeat(nodes)}1]}}`)).toBe(`body:1:1: ${message}`);
    const list = `- &a [${'1,'.repeat(800)}1]\n`;
    expect(await problemOf(`${list}${'- *a\n'.repeat(50)}`)).toBe(`body:1:1: ${message}`);
  });

  it('is refused with a key that messages would repeat at length', async () => {
    const key = 'k'.repeat(DOCUMENT_LIMITS.keyLength + 1);
    expect(await problemOf(`{"spec": {"${key}": 1}}`)).toContain('(spec): has a key of more than 512 characters');
  });

  it('is refused with too many values before a map of them is built', () => {
    const keys = (count: number) => `{${repeated(count, (i) => `"k${i}":",",`)}"z":1}`;
    expect([holdsMoreThan(keys(nodes - 1), nodes), holdsMoreThan(keys(nodes), nodes)]).toEqual([false, true]);
    // Of the first value, whatever its strings contain.
    expect(holdsMoreThan(`{"a":"\\"}]"}\n[${'1,'.repeat(nodes)}1]`, nodes)).toBe(false);
    expect(holdsMoreThan(`["\\"]}",${'1,'.repeat(nodes)}1]`, nodes)).toBe(true);
  });

  it('never fails for want of stack', async () => {
    for (const text of [
      '['.repeat(levels),
      '- '.repeat(levels),
      '{"a":'.repeat(levels),
      `${'[['.repeat(45)}${']]'.repeat(45)}`,
    ]) {
      expect(await problemOf(text)).not.toMatch(/stack/);
    }
  });

  it('reports no more than 100 problems, and stops reading there', async () => {
    const { problems } = await readDocuments('{"kind": "Nothing"}\n'.repeat(1500), 'body');
    expect(problems).toHaveLength(100);
    const labels = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, []]));
    const one = { apiVersion: 'twinyard/v1', kind: 'Workspace', metadata: { name: 'a', labels }, spec: {} };
    expect((await readDocuments(JSON.stringify(one), 'body')).problems).toHaveLength(100);
  });

  it('may hold as many documents as one JSON value per line, or separated', async () => {
    const one = (name: string) =>
      JSON.stringify({ apiVersion: 'twinyard/v1', kind: 'Workspace', metadata: { name }, spec: {} });
    const names = async (text: string) =>
      (await readDocuments(text, 'body')).written.map(({ resource }) => resource.metadata.name);
    expect(await names(`${one('a')}\n${one('b')}\n\n${one('c')}`)).toEqual(['a', 'b', 'c']);
    expect(await names(`${one('a')}\n---\n${one('b')}\n`)).toEqual(['a', 'b']);
    expect(await problemOf(`${one('a')}\n{"kind": }\n`)).toBe(
      'body:2:1: is not valid JSON; write one JSON document per line',
    );
    expect(await problemOf('{}\n'.repeat(documents + 1))).toContain('(kind): is missing');
  });
});

describe('reserved names', () => {
  const labelled = (labels: string) =>
    `apiVersion: twinyard/v1\nkind: Workspace\nmetadata:\n  name: a\n  labels: ${labels}\nspec: {}\n`;
  it.each(['__proto__', 'constructor', 'prototype'])('%s is refused in every map, with its place', async (name) => {
    const message = `'${name}' is a reserved name; choose another name`;
    expect(await problemOf(labelled(`{${name}: x}`))).toBe(
      `body:5:${14 + name.length} (metadata.labels.${name}): ${message}`,
    );
    const json = `{"kind": "Endpoint", "spec": {"variables": {"deep": [{"${name}": {"x": 1}}]}}}`;
    expect(await problemOf(json)).toBe(`body:1:55 (spec.variables.deep[0].${name}): ${message}`);
    expect(await problemOf(json.replace('__', '\\u005f_'))).toContain(message);
    expect(() => readResources(labelled(`{"${name}": x}`), 'own.yaml')).toThrow(message);
  });
});

describe('places in JSON', () => {
  it('are those of values, of the keys of maps and lists, and of the map that lacks a key', () => {
    const text = '{\n  "a": [1, {"b": "x\\"]"}],\n  "c": {"d": [2, 3]}\n}';
    const [document] = [...parseDocuments(text, 'f.json', 'own')];
    const { placeOf } = document as { placeOf: (path: string) => string };
    expect(['', 'a', 'a[0]', 'a[1].b', 'c', 'c.d[1]', 'c.e', 'z'].map(placeOf)).toEqual([
      'f.json:1:1',
      'f.json:2:3 (a)',
      'f.json:2:9 (a[0])',
      'f.json:2:18 (a[1].b)',
      'f.json:3:3 (c)',
      'f.json:3:18 (c.d[1])',
      'f.json:3:3 (c.e)',
      'f.json:1:1 (z)',
    ]);
  });

  it('are found by one walk over the text, however many there are', () => {
    const text = JSON.stringify(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`k${i}`, { a: i }])));
    const [document] = [...parseDocuments(text, 'f.json', 'own')];
    const { placeOf } = document as { placeOf: (path: string) => string };
    const parse = vi.spyOn(JSON, 'parse');
    const places = Array.from({ length: 2000 }, (_, i) => placeOf(`k${i}.a`));
    expect(parse.mock.calls.length).toBeLessThanOrEqual(4000);
    parse.mockRestore();
    expect(places[1999]).toBe(`f.json:1:${text.indexOf('1999}') + 1} (k1999.a)`);
  });

  it('name a key that is given twice', async () => {
    expect(await problemOf('{"a": 1, "b": {"a": "a"},\n "a": 2}')).toBe(
      'body:2:2: Map keys must be unique; write plain YAML or JSON',
    );
    expect(await problemOf('a: 1\nb: {c: 1, c: 2}\n')).toBe(
      'body:2:11: Map keys must be unique; write plain YAML or JSON',
    );
    expect(await problemOf('? [a]\n: 1\n')).toBe('body:1:3: a key is a map or a list; write plain YAML or JSON');
  });
});
