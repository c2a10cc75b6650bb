import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../errors.js';
import { jsonText } from '../json/json-text.fixture.js';
import { type BodyField, BodyScanner, scanBody } from './scanned-body.js';

const FIELDS: BodyField[] = ['model', 'stream', 'stream_options', 'max_tokens', 'n', 'user', 'messages', 'prompt'];
const { object, value } = jsonText(FIELDS.slice(1));

function scanned(text: string | Buffer): Record<string, unknown> | string {
  try {
    const body = scanBody(Buffer.from(text as string));
    return Object.fromEntries(FIELDS.filter((name) => body.has(name)).map((name) => [name, body.value(name)]));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.message;
  }
}

function parsed(text: string): Record<string, unknown> | string {
  let whole: unknown;
  try {
    whole = JSON.parse(Buffer.from(text).toString('utf8'));
  } catch {
    return 'not valid JSON';
  }
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return 'must be a JSON object';
  const fields = whole as Record<string, unknown>;
  return Object.fromEntries(FIELDS.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]));
}

function expectSame(text: string): void {
  const [found, wanted] = [scanned(text), parsed(text)];
  if (typeof wanted === 'string') expect(found).toContain(wanted);
  else expect(found).toEqual(wanted);
}

describe('a scanned body', () => {
  it('has the fields that JSON.parse finds, in any valid JSON', () => {
    fc.assert(fc.property(fc.oneof(object, object, value), expectSame), { numRuns: 2000 });
  });

  it('is refused wherever JSON.parse refuses it: a valid text with a few changed characters', () => {
    let refused = 0;
    const change = fc.tuple(
      fc.nat(),
      fc.nat(2),
      fc.constantFrom('', '"', '\\', '{', ']', ',', ':', '0', '\n', 'e', '.', 'u'),
    );
    fc.assert(
      fc.property(object, fc.array(change, { minLength: 1, maxLength: 3 }), (text, changes) => {
        let changed = text;
        for (const [place, length, by] of changes) {
          const at = place % (changed.length + 1);
          changed = changed.slice(0, at) + by + changed.slice(at + length);
        }
        if (parsed(changed) === 'not valid JSON') refused++;
        expectSame(changed);
      }),
      { numRuns: 4000 },
    );
    expect(refused).toBeGreaterThan(1500);
  });

  it('is the same however its bytes are cut', () => {
    fc.assert(
      fc.property(object, fc.array(fc.nat(200), { maxLength: 6 }), (text, cuts) => {
        const bytes = Buffer.from(text);
        const scanner = new BodyScanner();
        for (const cut of cuts.sort((a, b) => a - b)) scanner.scan(bytes, Math.min(cut, bytes.length));
        const body = scanner.end(bytes);
        const whole = scanBody(bytes);
        for (const name of FIELDS) {
          expect([body.begin(name), body.end(name)]).toEqual([whole.begin(name), whole.end(name)]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    '',
    ' ',
    'nope',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,}',
    '[1,]',
    '{"a":[12,34,]}',
    '{"a":[12,034]}',
    '{"a":12,34}',
    '7,{"a":1}',
    '12,',
    '"x',
    '01',
    '1.',
    '-',
    '+1',
    '1e',
    '.5',
  ])('is refused as JSON.parse refuses %j', (text) => {
    expect(scanned(text)).toContain('not valid JSON');
    expect(() => JSON.parse(text)).toThrow();
  });

  it('is refused with the position', () => {
    expect(scanned('{"a": tru}')).toBe(
      'The body is not valid JSON: expected true, false or null at position 9 (line 1 column 10).',
    );
    expect(scanned('{\n "a": 1,\n}')).toMatch('expected a name in double quotes at position 11 (line 3 column 1)');
    expect(scanned('{"a": "\t"}')).toMatch('expected no control character in a string at position 7');
    expect(scanned('{} x')).toMatch('expected nothing after the value at position 3');
    expect(scanned('{"model":"m"')).toMatch('it ends too early at position 12');
  });

  it.each([
    '{"model":"a","model":"b"}',
    '{"model":"a","Model":"b"}',
    '{"MODEL":"b"}',
    '{"model":"a","\\u004dodel":"b"}',
    '{"model":"a","mode\\u006c":"b"}',
  ])('names its model once, in lower case: %s', (text) =>
    expect(scanned(text)).toBe("'model' must appear once, in lower case."),
  );

  it('may name a model elsewhere, and with escapes', () => {
    expect(scanned('{"mod\\u0065l":"m","x":{"Model":1,"model":2}}')).toEqual({ model: 'm' });
  });

  it('is refused when it is nested too deeply or has too many lists and objects', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect([scanned(nested(500)), scanned(nested(501))]).toEqual([{}, 'The body is nested too deeply.']);
    expect(scanned(nested(1_000_000))).toBe('The body is nested too deeply.');
    const list = (items: number) => `{"a":[${'{},'.repeat(items - 1)}{}]}`;
    expect(scanned(list(99_998))).toEqual({});
    expect(scanned(list(99_999))).toBe('The body has more than 100000 lists and objects.');
  });

  it('is parsed in parts of at most a mebibyte', () => {
    const body = scanBody(Buffer.from(`{"model":"m","user":"${'x'.repeat(1024 * 1024)}"}`));
    expect([body.value('model'), body.value('user'), body.has('user'), body.parsed()]).toEqual([
      'm',
      undefined,
      true,
      null,
    ]);
    expect(scanBody(Buffer.from('{"a":[1]}')).parsed()).toEqual({ a: [1] });
  });

  it('has no value of a short field that is long: nothing large is parsed at once', () => {
    const list = `[${'1,'.repeat(3000)}1]`;
    const body = scanBody(
      Buffer.from(`{"model":"m","n":${list},"user":"${'x'.repeat(60_000)}","stream_options":{"a":1}}`),
    );
    expect([body.value('n'), (body.value('user') as string).length, body.value('stream_options')]).toEqual([
      undefined,
      60_000,
      { a: 1 },
    ]);
    expect(scanBody(Buffer.from(`{"model":"m","user":"${'x'.repeat(70_000)}"}`)).value('user')).toBeUndefined();
  });
});
