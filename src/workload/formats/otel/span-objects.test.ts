import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryFiles } from '../samples.fixture.js';
import { forEachSpan, SpanScan, type SpanText } from './span-objects.js';

const written = temporaryFiles();

/** The spans of a text in chunks cut at these offsets. */
function spansOf(text: string, cuts: readonly number[] = []): SpanText[] {
  const spans: SpanText[] = [];
  const scan = new SpanScan('t.json', (span) => spans.push(span));
  const bytes = Buffer.from(text);
  const ends = [...new Set([...cuts, bytes.length])].sort((a, b) => a - b);
  ends.reduce((begin, end) => {
    // A chunk is valid only until the next one.
    const piece = Buffer.from(bytes.subarray(begin, end));
    scan.read(piece);
    piece.fill(0);
    return end;
  }, 0);
  scan.end();
  return spans;
}
const values = (text: string, cuts?: readonly number[]) =>
  spansOf(text, cuts).map((span) => JSON.parse(span.text) as unknown);

const json = fc.jsonValue({ maxDepth: 3 });
const spanList = fc.array(fc.dictionary(fc.constantFrom('name', 'spans', '}', '"', 'ä\\'), json, { maxKeys: 3 }), {
  maxLength: 4,
});
const document = spanList.chain((spans) =>
  fc.tuple(json, json, fc.constantFrom(0, 2)).map(([before, after, indent]) => ({
    spans,
    text: JSON.stringify(
      { resourceSpans: [{ resource: { before }, scopeSpans: [{ scope: {}, spans, after: { x: after } }] }] },
      null,
      indent,
    ),
  })),
);

describe('SpanScan', () => {
  it('finds every object of every list of spans, for any chunks', () => {
    fc.assert(
      fc.property(
        fc.array(document, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat(400), { maxLength: 6 }),
        (documents, cuts) => {
          // Random values may hold lists called spans outside of spans; those count as well.
          fc.pre(documents.every(({ text, spans }) => values(text).length === spans.length));
          const text = documents.map((one) => one.text).join('\n');
          const length = Buffer.byteLength(text);
          expect(
            values(
              text,
              cuts.map((cut) => Math.min(cut, length)),
            ),
          ).toEqual(documents.flatMap(({ spans }) => spans));
        },
      ),
    );
  });

  it('can be cut at every byte', () => {
    const text = '\ufeff{"a":"x\\"{[","spans":[ {"n":"é]}"},{"m":{"spans":[{"k":1}]}} ],"spans ":[{}]}';
    const whole = spansOf(text);
    expect(whole.map((span) => span.text)).toEqual(['{"n":"é]}"}', '{"m":{"spans":[{"k":1}]}}']);
    for (let cut = 3; cut < Buffer.byteLength(text); cut++) expect(spansOf(text, [cut])).toEqual(whole);
  });

  it('reports where spans begin', () => {
    const spans = spansOf('{"spans":[{},\n  {}]}\n{"spans":\n[{}]}');
    expect(spans.map(({ column, line }) => `${line}:${column}`)).toEqual(['1:11', '2:3', '4:2']);
  });

  it('reads a list of documents', () => {
    expect(values('[{"spans":[{"a":1}]},{"spans":[{"a":2}]}]')).toEqual([{ a: 1 }, { a: 2 }]);
  });
});

describe('forEachSpan', () => {
  it('reads files larger than a chunk', async () => {
    const spans = Array.from({ length: 3000 }, (_, i) => ({ i, text: 'é'.repeat(i % 700) }));
    const path = written('large.json', JSON.stringify({ spans }, null, 1));
    const found: unknown[] = [];
    await forEachSpan(path, (span) => found.push(JSON.parse(span.text)));
    expect(found).toEqual(spans);
  });
});
