import { describe, expect, it } from 'vitest';
import { event, piece } from '../fake-server.fixture.js';
import { ResponseReader } from './response-reader.js';

const USAGE = event({
  choices: [],
  usage: { prompt_tokens: 9, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
});
const DONE = 'data: [DONE]\n\n';
const delta = (fields: object, finish: string | null = null) =>
  event({ id: 'x', choices: [{ index: 0, delta: fields, finish_reason: finish }] });

/** Reads parts that arrive a millisecond apart, from 1 ms on. */
function read(parts: readonly string[], { isStream = true, keepsText = false } = {}) {
  const times: number[] = [];
  const reader = new ResponseReader(isStream, keepsText, (us) => times.push(us));
  parts.forEach((part, i) => {
    reader.push(Buffer.from(part), (i + 1) * 1000);
  });
  reader.end();
  return { reader, times };
}

describe('ResponseReader', () => {
  it('records when chunks arrived, and the token counts of the server', () => {
    const { reader, times } = read([piece(' a'), piece(' b') + piece(' c', 'length'), USAGE + DONE]);
    expect(reader).toMatchObject({
      chunks: 3,
      firstUs: 1000,
      lastUs: 3000,
      finishReason: 'length',
      problem: null,
      text: '',
    });
    expect(reader.counts).toMatchObject({ inputTokens: 9, cachedTokens: 4, outputTokens: 3 });
    expect(times).toEqual([1000, 2000, 2000]);
  });

  it('finds the same however the stream is cut', () => {
    const text = [piece(' a'), piece(' bb'), piece(' "c"'), piece(' d', 'stop'), USAGE, DONE].join('');
    for (let at = 1; at < text.length; at++) {
      const { reader } = read([text.slice(0, at), text.slice(at)]);
      expect(reader).toMatchObject({ chunks: 4, finishReason: 'stop', problem: null });
    }
  });

  it('does not count the first event of a chat completion as a token', () => {
    const parts = [delta({ role: 'assistant', content: '' }), delta({ content: 'a' }), delta({}, 'stop'), USAGE + DONE];
    const { reader, times } = read(parts, { keepsText: true });
    expect(reader).toMatchObject({ chunks: 1, firstUs: 2000, lastUs: 4000, text: 'a', finishReason: 'stop' });
    expect(times).toEqual([2000]);
  });

  it('counts tokens without text', () => {
    expect(read([piece(''), piece(' b'), piece('', 'length'), DONE]).reader.chunks).toBe(2);
    expect(read([delta({ content: '' }), delta({ reasoning_content: 'hm' }), DONE]).reader.chunks).toBe(2);
  });

  it('keeps the text on request', () => {
    const parts = [piece(' a'), piece(' b'), piece(' c', 'length'), DONE];
    expect(read(parts, { keepsText: true }).reader.text).toBe(' a b c');
  });

  it('needs no [DONE] behind the end', () => {
    expect(read([piece(' a'), piece(' b', 'stop')]).reader.problem).toBeNull();
    expect(read([piece(' a'), `${piece(' b', 'stop')}data: {`]).reader.problem).toMatchObject({ class: 'cut' });
  });

  it('ignores what follows [DONE], and everything after an error', () => {
    expect(read([`${piece(' a')}${DONE}data: x\n\n`]).reader.problem).toBeNull();
    const { reader } = read([`data: x\n\n${piece(' a')}`]);
    expect(reader).toMatchObject({ chunks: 0, problem: { class: 'malformed' } });
    expect(reader.problem!.message).toBe('an event is malformed: x');
  });

  it('quotes an unexpected event, shortened', () => {
    expect(read([`data: ${'x'.repeat(100)}\n\n`]).reader.problem!.message).toMatch(/: x{57}\.\.\.$/);
    expect(read([event({ error: 'overloaded' })]).reader.problem!.message).toContain('"overloaded"');
  });

  it('does not take events without end', () => {
    const { reader } = read([`data: ${'x'.repeat(5 * 1024 * 1024)}\n\n`]);
    expect(reader.problem).toEqual({ class: 'malformed', message: 'an event is too large' });
  });

  describe('of a response without streaming', () => {
    const whole = (body: object) => read([JSON.stringify(body)], { isStream: false, keepsText: true }).reader;
    const usage = { prompt_tokens: 5, completion_tokens: 2 };

    it('reads completions and chat completions', () => {
      const choice = { text: ' a b', finish_reason: 'length' };
      expect(whole({ choices: [choice], usage })).toMatchObject({
        ...{ chunks: 1, firstUs: 1000, lastUs: 1000, text: ' a b', finishReason: 'length', problem: null },
        counts: { inputTokens: 5, outputTokens: 2 },
      });
      expect(whole({ choices: [{ message: { content: 'hi' } }], usage })).toMatchObject({
        text: 'hi',
        finishReason: '',
      });
      expect(whole({ choices: [{ message: null }], usage }).text).toBe('');
    });

    it('may arrive in parts', () => {
      const text = JSON.stringify({ choices: [{ text: 'a' }], usage });
      const { reader } = read([text.slice(0, 10), text.slice(10)], { isStream: false });
      expect(reader).toMatchObject({ chunks: 1, lastUs: 2000, problem: null });
    });

    it('finds what is wrong with it', () => {
      expect(whole({ choices: [] }).problem).toMatchObject({
        class: 'malformed',
        message: 'the response has no choices',
      });
      expect(whole({ error: { message: 'no' } }).problem).toMatchObject({ class: 'server_error' });
      expect(read(['<html>'], { isStream: false }).reader.problem!.message).toBe('the response is malformed: <html>');
    });

    it('does not keep responses without end', () => {
      const reader = new ResponseReader(false, false);
      const part = Buffer.alloc(33 * 1024 * 1024);
      reader.push(part, 1);
      reader.push(part, 2);
      reader.end();
      expect(reader.problem).toMatchObject({ message: 'the response is too large' });
    });
  });
});
