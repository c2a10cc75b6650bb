import { describe, expect, it } from 'vitest';
import { withModel } from './with-model.js';

const RENAMES = new Map([
  ['chat', 'big-model'],
  ['grüße', 'größe "x" 😀'],
]);
const renamed = (text: string) => withModel(Buffer.from(text), RENAMES).toString('utf8');

describe('withModel', () => {
  it.each([
    ['{"model":"chat"}', '{"model":"big-model"}'],
    [' {"a" : 1e400, "model" :\n"chat" , "seed":12345678901234567890}', undefined],
    ['{"messages":[{"model":"chat"}],"model":"chat"}', '{"messages":[{"model":"chat"}],"model":"big-model"}'],
    ['{"model":"ch\\u0061t"}', '{"model":"big-model"}'],
    ['{"model":"other","model":"chat"}', '{"model":"other","model":"big-model"}'],
  ])('changes %s and no other byte', (before, after) => {
    const wanted = after ?? before.replace('"chat"', '"big-model"');
    expect(renamed(before)).toBe(wanted);
  });

  it('writes any name', () => {
    expect(JSON.parse(renamed('{"model":"grüße"}'))).toEqual({ model: 'größe "x" 😀' });
  });

  it('finds a member whose name is written with escapes', () => {
    expect(renamed('{"mod\\u0065l":"chat","a":1}')).toBe('{"model":"big-model","a":1}');
  });

  it.each(['{"model":"other"}', '{"model":5}', '{"a":1}', '{"mod\\u0065l":"other"}', '[]'])(
    'leaves %s alone',
    (body) => {
      const bytes = Buffer.from(body);
      expect(withModel(bytes, RENAMES)).toBe(bytes);
    },
  );
});
