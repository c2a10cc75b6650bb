import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scanBody } from './body/scanned-body.js';
import { withUsageRequested } from './with-usage-requested.js';

function asked(text: string): string | null {
  const made = withUsageRequested(scanBody(Buffer.from(text)));
  if (made === null) return null;
  // Every field is where a scan of the new bytes finds it.
  const again = scanBody(made.bytes);
  for (const field of ['model', 'stream', 'max_tokens'] as const) {
    expect([made.begin(field), made.end(field)]).toEqual([again.begin(field), again.end(field)]);
  }
  return made.bytes.toString();
}

describe('usage is requested', () => {
  test.each([
    ['{"model":"m","stream":true}', '{"stream_options":{"include_usage":true},"model":"m","stream":true}'],
    ['\r\n {\t"model" : "m"}\n', '\r\n {"stream_options":{"include_usage":true},\t"model" : "m"}\n'],
    ['{ }', '{"stream_options":{"include_usage":true} }'],
    ['{"stream_options":{}}', '{"stream_options":{"include_usage":true}}'],
    ['{"stream_options": { } }', '{"stream_options": {"include_usage":true } }'],
    ['{"stream_options":null,"a":1}', '{"stream_options":{"include_usage":true},"a":1}'],
    ['{"stream_options":{"a":[1]}}', '{"stream_options":{"include_usage":true,"a":[1]}}'],
    ['{"stream_options":{"include_usage" :\nfalse }}', '{"stream_options":{"include_usage" :\ntrue }}'],
    ['{"stream_options":{"include_usage":null,"a":1}}', '{"stream_options":{"include_usage":true,"a":1}}'],
    ['{"stream_options":{"include_usage":{"a":"}"}}}', '{"stream_options":{"include_usage":true}}'],
    ['{"stream_options":{"include_usage":"true"}}', '{"stream_options":{"include_usage":true}}'],
    [
      '{"stream_options":{"include_usage":true,"include_usage":false}}',
      '{"stream_options":{"include_usage":true,"include_usage":true}}',
    ],
    [
      '{"stream_options":{"include_usage":true},"stream_options":{}}',
      '{"stream_options":{"include_usage":true},"stream_options":{"include_usage":true}}',
    ],
    [
      '{"a":{"stream_options":{"include_usage":true}},"b":"\\"stream_options\\":{"}',
      '{"stream_options":{"include_usage":true},"a":{"stream_options":{"include_usage":true}},"b":"\\"stream_options\\":{"}',
    ],
    ['{"a":"stream_options"}', '{"stream_options":{"include_usage":true},"a":"stream_options"}'],
    [
      '{"a":"x\\\\","b":-1.5e3,"c":true,"stream_options":{"\\"":1}}',
      '{"a":"x\\\\","b":-1.5e3,"c":true,"stream_options":{"include_usage":true,"\\"":1}}',
    ],
  ])('%s', (body, expected) => {
    expect(asked(body)).toBe(expected);
  });

  test.each([
    ['asked for', '{"stream_options":{"include_usage":true}}'],
    ['asked for at last', '{"stream_options":{"include_usage":false,"include_usage": true}}'],
    ['options that are none', '{"stream_options":3}'],
    ['options in a list', '{"stream_options":[]}'],
    ['options over a mebibyte', `{"stream_options":{"a":"${'x'.repeat(1024 * 1024)}"}}`],
  ])('but not with %s', (_, body) => {
    expect(asked(body)).toBe(null);
  });

  const gap = fc.constantFrom('', '', ' ', '\n\t');
  const name = fc.oneof(
    fc.constantFrom('stream_options', 'include_usage', 'stream', 'a'),
    fc.string({ maxLength: 6 }).filter((given) => given !== '__proto__'),
  );
  const { object } = fc.letrec<{ value: string; object: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('true', 'false', 'null', '1', '"\\\\"', '[]', '"include_usage"'),
      fc.string().map((text) => JSON.stringify(text)),
      tie('object'),
      tie('object'),
      fc.array(tie('value'), { maxLength: 3 }).map((values) => `[${values.join(' , ')}]`),
    ),
    object: fc
      .array(fc.tuple(gap, name, gap, gap, tie('value'), gap), { maxLength: 5 })
      .map(
        (members) =>
          `{${members.map(([a, key, b, c, value, d]) => `${a}${JSON.stringify(key)}${b}:${c}${value}${d}`).join(',')}}`,
      ),
  }));

  test('in any body, and nothing else is changed', () => {
    let changed = 0;
    fc.assert(
      fc.property(object, (body) => {
        const before = JSON.parse(body);
        const made = asked(body);
        const options = before.stream_options ?? {};
        const isObject = typeof options === 'object' && !Array.isArray(options);
        if (!isObject || options.include_usage === true) expect(made).toBe(null);
        else {
          changed++;
          expect(JSON.parse(made!)).toEqual({ ...before, stream_options: { ...options, include_usage: true } });
        }
      }),
      { numRuns: 3000 },
    );
    expect(changed).toBeGreaterThan(1000);
  });
});
