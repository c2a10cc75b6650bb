import { describe, expect, it } from 'vitest';
import { messagesOf, openingText, systemPrompt, userMessages } from './message-text.js';

describe('messages', () => {
  const body = {
    messages: [
      { role: 'user', content: 'first' },
      null,
      'text',
      { role: 'system', content: 'Be brief.' },
      { role: 'system', content: 'Be long.' },
      { role: 'assistant', content: 'answer' },
      {
        role: 'user',
        content: [{ type: 'text', text: 'a ' }, 'b', { url: 'x', type: 'image' }, { type: 'text', text: 3 }, 7],
      },
      { role: 'user' },
    ],
  };

  it('are found when there is at least one', () => {
    expect(messagesOf(body)).toBe(body.messages);
    expect([{}, { messages: [] }, { messages: 'x' }].map(messagesOf)).toEqual([null, null, null]);
  });

  it('have one system prompt, the first', () => {
    expect(systemPrompt(body.messages)).toBe('Be brief.');
    expect(systemPrompt([{ role: 'user', content: 'x' }])).toBe('');
    expect(systemPrompt([{ role: 'system', content: '' }, body.messages[3]])).toBe('');
  });

  it('are joined from their parts, parts that are not text as JSON', () => {
    expect(userMessages(body.messages, 9)).toEqual([
      'first',
      'a b{"type":"image","url":"x"}{"text":3,"type":"text"}7',
      '',
    ]);
    expect(userMessages(body.messages, 1)).toEqual(['first']);
    expect(userMessages(body.messages, 0)).toEqual([]);
  });
});

describe('openingText', () => {
  it('is the first user message, else the prompt, else everything', () => {
    expect(
      openingText({
        messages: [
          { role: 'system', content: 's' },
          { role: 'user', content: 'u' },
        ],
      }),
    ).toBe('u');
    expect(openingText({ messages: [{ role: 'system', content: 's' }] })).toBe('');
    expect(openingText({ prompt: 'Once', model: 'm' })).toBe('Once');
    expect(openingText({ prompt: ['Once'], model: 'm' })).toBe('{"model":"m","prompt":["Once"]}');
  });
});
