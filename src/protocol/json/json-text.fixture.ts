import fc from 'fast-check';

const gap = fc.constantFrom('', '', ' ', '\n\t', '\r\n');
const scalar = fc.oneof(
  fc.constantFrom('true', 'false', 'null', '0', '-0', '1', '12.50', '1e3', '-2E-2', '0.1e+9', '4294967295', '""'),
  fc.string({ maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.string({ maxLength: 8, unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '"\\u0061\\/\\b\\f"',
    '"\\ud83d\\ude00"',
    '"\\ud83dx"',
    '"\\ude00\\ud83d"',
    '"é\\n€😀\\\\"',
    '"\\"\\\\"',
  ),
);

/** Valid JSON of any shape, with any spacing and escapes, as text. Members have the names of a list, or any. */
export function jsonText(names: readonly string[]): { value: fc.Arbitrary<string>; object: fc.Arbitrary<string> } {
  const name = fc.oneof(
    fc.constantFrom(...names).map((one) => JSON.stringify(one)),
    fc.constantFrom(...names).map((one) => `"\\u00${one.charCodeAt(0).toString(16)}${one.slice(1)}"`),
    fc.string({ maxLength: 4 }).map((one) => JSON.stringify(one)),
  );
  return fc.letrec<{ value: string; object: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      scalar,
      tie('object'),
      fc.array(fc.tuple(gap, tie('value'), gap), { maxLength: 3 }).map((items) => `[${items.map((i) => i.join(''))}]`),
      fc.array(fc.nat(2 ** 32), { maxLength: 4 }).map((ids) => JSON.stringify(ids)),
    ),
    object: fc
      .array(fc.tuple(gap, name, gap, gap, tie('value'), gap), { maxLength: 5 })
      .map((all) => `{${all.map(([a, key, b, c, value, d]) => `${a}${key}${b}:${c}${value}${d}`)}}`),
  }));
}
