import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { InputError } from '../kernel/errors.js';
import { accepted } from './accepted.js';
import type { Schema } from './facts.js';
import { fieldRows, sectionsOf } from './field-rows.js';
import {
  above,
  any,
  choice,
  field,
  flag,
  list,
  listOf,
  map,
  number,
  pattern,
  required,
  secret,
  section,
  text,
  time,
  whole,
} from './fields.js';
import { jsonSchema } from './json-schema.js';
import { camelKeys, kebabCase, snakeKeys } from './names.js';
import { pathText, problemsOf } from './problems.js';
import { checkValue, readJson } from './read-json.js';
import { readText } from './read-text.js';
import { readYaml } from './read-yaml.js';

const CODES = { invalid: 'INVALID', unknownKey: 'UNKNOWN_KEY' };

const REPLICA = section('Replica', {
  url: required(text(), { help: 'address' }),
  weight: field(above(0, 10), { default: 1, help: 'share' }),
});

const FILE = section('File', {
  port: field(whole(0, 65_535), { default: 8080, help: 'port', restart: true }),
  ratio: field(number(0, 1), { help: 'a share' }),
  mode: field(choice(['fast', 'safe']), { default: 'safe', help: 'how' }),
  on: field(flag, { help: 'whether' }),
  name: field(pattern(/^[a-z]+$/, 'lower-case letters'), { help: 'a name' }),
  token: field(secret(), { help: 'sent upstream' }),
  replicas: field(list(REPLICA), { help: 'the replicas' }),
  limits: field(map('models', whole(1)), { help: 'by model' }),
  options: field(any, { help: 'of the policy' }),
});

function failure(work: () => unknown): InputError {
  try {
    work();
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error('nothing was wrong');
}

const read = (yaml: string) => readYaml(yaml, 'f.yaml', FILE, CODES, 'start with port');

describe('readYaml', () => {
  it('returns what was written, and the same with defaults', () => {
    const { given, value } = read('name: x\nreplicas: [{url: a}]\noptions: {deep: [1]}\n');
    expect(given).toEqual({ name: 'x', replicas: [{ url: 'a' }], options: { deep: [1] } });
    expect(value).toEqual({ ...given, port: 8080, mode: 'safe', replicas: [{ url: 'a', weight: 1 }] });
  });

  it('reads numbers as text where text is expected, and empty values as absent', () => {
    expect(read('replicas: [{url: 0x10}]\nname:\nlimits: {}\n').given).toEqual({
      replicas: [{ url: '0x10' }],
      limits: {},
    });
  });

  it('accepts $schema', () => {
    expect(read('$schema: ./config.json\nport: 1\n').given).toEqual({ port: 1 });
  });

  it.each([
    ['port: 1.5', 'f.yaml:1:7 (port): 1.5 is not a whole number; give a whole number from 0 to 65535'],
    ['port: 70000', 'f.yaml:1:7 (port): 70000 is too large; give a whole number from 0 to 65535'],
    ['port: many', "f.yaml:1:7 (port): 'many' is not a number; give a whole number from 0 to 65535"],
    ['ratio: [1]', 'f.yaml:1:1 (ratio): is not a single value; give a number from 0 to 1'],
    ['mode: sage', "f.yaml:1:7 (mode): unknown value 'sage'; did you mean 'safe'? known: fast, safe"],
    ['on: yes please', "f.yaml:1:5 (on): 'yes please' is neither true nor false; give true or false"],
    ['name: X', "f.yaml:1:7 (name): 'X' is not valid; give lower-case letters"],
    ['token: a b', 'is not a valid secret'],
    ['replicas: {url: a}', 'is not a list; give a list of entries with the keys url, weight'],
    ['replicas: [{}]', 'f.yaml:1:12 (replicas[0].url): is missing; give text'],
    ['replicas:\n  - url: a\n    weight: 0', '(replicas[0].weight): 0 is too small; give a number above 0, at most 10'],
    ['limits: [1]', 'f.yaml:1:1 (limits): is not a map; give models, each with a whole number of at least 1'],
    ['limits: {m: 0}', 'f.yaml:1:13 (limits.m): 0 is too small'],
    ['prot: 1', "f.yaml:1:1 (prot): unknown key 'prot'; did you mean 'port'? known: port, ratio"],
    ['- 1', 'f.yaml:1:1: is not a map'],
    ['', 'f.yaml: holds no keys; start with port'],
    ['port: *none', "f.yaml:1:7: there is no anchor for '*none'"],
    ['port: 1\n---\nport: 2', 'a second YAML document starts here'],
    ['port: [', 'f.yaml:'],
  ])('names the place of %j', (yaml, message) => {
    expect(failure(() => read(yaml)).message).toContain(message);
  });

  it('reports the first thing wrong in the file, and missing keys last', () => {
    expect(failure(() => read('replicas: [{}]\nnope: 1\nport: x')).place).toBe('f.yaml:2:1 (nope)');
    expect(failure(() => read('port: x\nnope: 1')).place).toBe('f.yaml:1:7 (port)');
  });

  it('never repeats a secret', () => {
    expect(failure(() => read('token: "my secret"')).message).not.toContain('my secret');
  });
});

describe('problemsOf', () => {
  const label = pattern(/^[a-z]+$/, 'lower-case letters');
  const PARTS = section('Parts', {
    labels: field(map('labels', text(), label), { help: 'labels' }),
    command: field(listOf(v.union([text(), list(text())]), 1, 3), { help: 'command' }),
    until: field(time, { help: 'a time' }),
    memory: field(v.nullable(whole(1)), { help: 'memory' }),
    address: field(pattern(/^https:/, 'a URL'), { help: 'address' }),
  });
  const messages = (value: unknown) =>
    problemsOf(PARTS as unknown as Schema, value).map((one) => `${pathText(one.path)}: ${one.problem}; ${one.hint}`);

  it('finds everything at once, one problem per value', () => {
    expect(messages({ a: 1, b: 2, until: 5, command: [] })).toEqual([
      'command: is empty; give a list of at most 3, each text, or a list, each text',
      'until: 5 is not text; give a time, as in 2030-01-31T00:00:00Z',
      "a: unknown key 'a'; known: labels, command, until, memory, address",
      "b: unknown key 'b'; known: labels, command, until, memory, address",
    ]);
  });

  it('checks the names of a map, also those that every object has', () => {
    expect(messages({ labels: { A: 'x' } })).toEqual(['labels.A: the name is not valid; give lower-case letters']);
    const given = JSON.parse('{"labels": {"constructor": "x", "__proto__": "y", "fine": "z"}}');
    expect(messages(given)).toEqual([
      'labels.constructor: the name is not valid; give lower-case letters',
      'labels.__proto__: the name is not valid; give lower-case letters',
    ]);
  });

  it('looks inside the alternative that a value resembles', () => {
    expect(messages({ command: ['x', ['y', 1]] })).toEqual(['command[1][1]: 1 is not text; give text']);
    expect(messages({ command: [true] })).toEqual([
      'command[0]: true is not accepted; give text, or a list, each text',
    ]);
    expect(messages({ command: ['x', []] })).toEqual([]);
  });

  it('checks the calendar, and accepts null where it is allowed', () => {
    expect(messages({ until: '2030-01-31T18:00:00+02:00', memory: null })).toEqual([]);
    expect(messages({ until: '2030-02-30T00:00:00Z' })[0]).toContain("'2030-02-30T00:00:00Z' is not a time");
    expect(messages({ until: 'soon', memory: 0 })).toEqual([
      "until: 'soon' is not a time; give a time, as in 2030-01-31T00:00:00Z",
      'memory: 0 is too small; give a whole number of at least 1, or null',
    ]);
  });

  it('does not repeat an address with a password', () => {
    expect(messages({ address: 'http://ann:hush@host' })).toEqual(['address: the address is not valid; give a URL']);
  });

  it('is JSON Schema, too', async () => {
    const { properties } = await jsonSchema(PARTS);
    expect(properties!.labels).toMatchObject({ propertyNames: { pattern: '^[a-z]+$' } });
    expect(properties!.command).toMatchObject({ minItems: 1, maxItems: 3 });
    expect(properties!.until).toMatchObject({ type: 'string', format: 'date-time' });
  });
});

describe('readJson', () => {
  it('names the path of a mistake', () => {
    const error = failure(() => readJson('{"replicas":[{"url":5}]}', FILE, CODES, 'give {}'));
    expect(error).toMatchObject({ code: 'INVALID', place: 'body (replicas[0].url)', problem: '5 is not text' });
  });

  it('refuses what is not JSON', () => {
    expect(failure(() => readJson('{', FILE, CODES, 'give {}')).message).toBe('body: is not valid JSON; give {}');
  });

  it('refuses a list in place of a section', () => {
    expect(failure(() => checkValue([], FILE, CODES)).message).toContain('body: is not a map');
  });
});

describe('readText', () => {
  const port = FILE.entries.port;
  it.each([
    ['80', 80],
    [' 80 ', 80],
    ['-0', 0],
  ])('reads %j', (given, value) => {
    expect(readText(given, port, CODES, '--port')).toBe(value);
  });

  it.each([
    ['', "--port: '' is not a number; give a whole number from 0 to 65535"],
    ['1e999', "--port: '1e999' is too large"],
    ['0x10', "--port: '0x10' is not a number"],
    ['-1', "--port: '-1' is too small"],
  ])('refuses %j', (given, message) => {
    expect(failure(() => readText(given, port, CODES, '--port')).message).toContain(message);
  });
});

describe('output of a schema', () => {
  it('is JSON Schema for editors, without internal facts', async () => {
    const made = await jsonSchema(FILE);
    expect(made.properties!.port).toEqual({
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      description: 'port',
      default: 8080,
    });
    expect(made.properties!.token).toMatchObject({ writeOnly: true, format: 'password' });
    expect(made.properties!.ratio).toEqual({ type: 'number', minimum: 0, maximum: 1, description: 'a share' });
    expect(JSON.stringify(made)).not.toContain('restart');
  });

  it('is a table for the documentation', () => {
    const rows = new Map(fieldRows(FILE as Schema).map((row) => [row.name, row]));
    expect(rows.get('port')).toMatchObject({ default: '8080', help: 'port', needsRestart: true, section: null });
    expect(rows.get('replicas')).toMatchObject({ section: 'Replica', default: '' });
    expect([...sectionsOf(FILE as Schema).keys()]).toEqual(['Replica']);
    expect(fieldRows(REPLICA as Schema)[0]).toMatchObject({ name: 'url', default: 'required' });
  });

  it('reports what a value may be', () => {
    expect(accepted(number() as Schema)).toBe('a number');
    expect(accepted(number(Number.NEGATIVE_INFINITY, 5) as Schema)).toBe('a number up to 5');
    expect(accepted(list(text(9)) as Schema)).toBe('a list, each text of at most 9 characters');
    expect(accepted(any as Schema)).toBe('a value');
  });
});

describe('names', () => {
  it('go from one case to the other', () => {
    expect(camelKeys({ request_ttl_ms: 1, id: 2 })).toEqual({ requestTtlMs: 1, id: 2 });
    expect(snakeKeys({ requestTtlMs: 1 })).toEqual({ request_ttl_ms: 1 });
    expect(kebabCase('request_ttl_ms')).toBe('request-ttl-ms');
  });
});
