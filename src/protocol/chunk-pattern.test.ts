import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ChunkPattern } from './chunk-pattern.js';

const HEAD = '{"id":"c","choices":[{"index":0,"delta":{"content":';
const TAIL = '},"finish_reason":null}]}';
const chunk = (text: string, head = HEAD, tail = TAIL) => head + text + tail;

function learnt(text: string): ChunkPattern {
  const pattern = new ChunkPattern();
  const bytes = Buffer.from(`xx${text}xx`);
  const textFrom = 2 + HEAD.length + 1;
  pattern.learn(bytes, 2, bytes.length - 2, textFrom, bytes.indexOf('"', textFrom));
  bytes.fill(0);
  return pattern;
}

const fits = (pattern: ChunkPattern, text: string) => {
  const bytes = Buffer.from(`yyy${text}"yy`);
  return pattern.fits(bytes, 3, bytes.length - 3);
};

describe('a chunk', () => {
  test.each([
    ['the same', chunk('" word"'), true],
    ['another text', chunk('"\u00fc, and so on\\n"'), true],
    ['an empty text', chunk('""'), false],
    ['a quote in the text', chunk('"\\""'), false],
    ['a quote that does not end it', chunk('"a\\"'), false],
    ['more than a text', chunk('"a","tool_calls":"b"'), false],
    ['no text', chunk('null'), false],
    ['another head', chunk('" word"', HEAD.replace('0', '1')), false],
    ['another tail', chunk('" word"', HEAD, TAIL.replace('null', '"stop"')), false],
    ['a shorter one', '{}', false],
    ['usage besides', chunk('" word"', HEAD, `${TAIL.slice(0, -1)},"usage":{}}`), false],
  ])('with %s', (_, text, expected) => {
    expect(fits(learnt(chunk('" word"')), text)).toBe(expected);
  });

  test('matches nothing before it has learnt, nor after a reset', () => {
    expect(fits(new ChunkPattern(), chunk('" word"'))).toBe(false);
    const pattern = learnt(chunk('" word"'));
    pattern.reset();
    expect(fits(pattern, chunk('" word"'))).toBe(false);
  });

  test('that is large is not learnt', () => {
    const large = chunk('"a"', HEAD, `,"x":"${'x'.repeat(2048)}"${TAIL}`);
    expect(fits(learnt(large), large)).toBe(false);
  });

  test('matches only if nothing but the text differs', () => {
    const pattern = learnt(chunk('" word"'));
    let count = 0;
    const part = fc.constantFrom(HEAD, TAIL, '"', '\\\\', '\\"', 'a', ' word', '"},', '"finish_reason":null');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const text = chunk(`"${parts.join('')}"`);
        if (!fits(pattern, text)) return;
        count++;
        const { choices } = JSON.parse(text) as { choices: [{ delta: { content: string } }] };
        expect(choices[0].delta.content).not.toBe('');
        choices[0].delta.content = ' word';
        expect(choices).toEqual(JSON.parse(chunk('" word"')).choices);
      }),
      { numRuns: 3000 },
    );
    expect(count).toBeGreaterThan(100);
  });
});
